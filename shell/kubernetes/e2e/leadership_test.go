package e2e

import (
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/haproxy-discovery/haproxy-discovery/shell/kubernetes/e2e/internal/testbed"
)

const leaseName = "haproxy-discovery"

// leaseDuration is short, so that a test need not wait long for a leader that was killed, and long
// enough for a busy machine to renew in.
const leaseDuration = 6 * time.Second

func replica(w *world, name string) *testbed.Discovery {
	w.t.Helper()
	return w.discover("--leader-elect", "--leader-elect-identity", name,
		"--leader-elect-lease-duration", leaseDuration.String(),
		"--leader-elect-renew-deadline", "5s", "--leader-elect-retry-period", "300ms")
}

// Both replicas discover, and the one that comes to lead tells its fleet again. A leader that is
// asked to end gives the lease up; one that is killed leaves it to expire.
func TestLeaderChange(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		end    func(*testbed.Discovery)
		status int
		within time.Duration
	}{
		"gracefully": {(*testbed.Discovery).Interrupt, 0, leaseDuration / 2},
		"killed":     {(*testbed.Discovery).Kill, 137, 3 * leaseDuration},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			pods := w.launchMany(3)
			first := replica(w, "first")
			first.AwaitPods(pods...)
			w.awaitLeaseHolder("first")
			second := replica(w, "second")
			second.AwaitPods(pods...)

			later := w.launch(testbed.Wish{Name: "later"})
			first.AwaitPods(append(pods, later)...)
			second.AwaitPods(append(pods, later)...)
			if replays := second.Since(0, isReplay); len(replays) > 0 {
				t.Errorf("the second replica replays though it does not lead: %+v", replays)
			}

			mark, ended := second.Mark(), time.Now()
			test.end(first)
			if status := first.AwaitExit(); status != test.status {
				t.Errorf("the first replica's exit status is %d, want %d", status, test.status)
			}
			replay := second.Await(mark, "the second replica's replay", isReplay)
			took := replay.Arrived.Sub(ended)
			t.Logf("the second replica leads after %v", took.Round(time.Millisecond))
			if took > test.within {
				t.Errorf("the second replica leads after %v, want at most %v", took, test.within)
			}
			if replay.Trigger != "became_leader" || replay.Count != len(pods)+1 ||
				len(replay.Added)+len(replay.Removed)+len(replay.Updated) > 0 {
				t.Errorf("not a mere replay: %+v", replay)
			}
			w.awaitLeaseHolder("second")
			expectTerminations(t, second, 0)
		})
	}
}

// Somebody who is gone holds the lease. Discovery does not wait for it to expire, leading does.
func TestLeaseHeldByDeadPeer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	now := metav1.NowMicro()
	_, err := w.client.CoordinationV1().Leases(w.namespace).Create(w.ctx, &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: leaseName},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity:       ptr.To("gone"),
			LeaseDurationSeconds: ptr.To(int32(leaseDuration.Seconds())),
			AcquireTime:          &now, RenewTime: &now, LeaseTransitions: ptr.To[int32](7),
		},
	}, metav1.CreateOptions{})
	check(t, err)
	pods := w.launchMany(3)
	d := replica(w, "alive")
	d.AwaitPods(pods...)
	d.AwaitLog("holder=gone")
	if holder := w.leaseHolder(); holder != "gone" {
		t.Fatalf("the lease is held by %q before it has expired", holder)
	}

	replay := d.Await(0, "the replay of a new leader", isReplay)
	if replay.Count != len(pods) {
		t.Errorf("%d endpoints in the replay, want %d", replay.Count, len(pods))
	}
	lease, err := w.client.CoordinationV1().Leases(w.namespace).
		Get(w.ctx, leaseName, metav1.GetOptions{})
	check(t, err)
	if holder := ptr.Deref(lease.Spec.HolderIdentity, ""); holder != "alive" {
		t.Errorf("the lease is held by %q, want alive", holder)
	}
	if transitions := ptr.Deref(lease.Spec.LeaseTransitions, 0); transitions != 8 {
		t.Errorf("%d changes of leader, want 8", transitions)
	}
}

func isReplay(event testbed.Event) bool {
	return event.Kind == testbed.Discovered && event.Replay
}

// leaseHolder is empty for nobody, and as long as there is no lease.
func (w *world) leaseHolder() string {
	w.t.Helper()
	lease, err := w.client.CoordinationV1().Leases(w.namespace).
		Get(w.ctx, leaseName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return ""
	}
	check(w.t, err)
	return ptr.Deref(lease.Spec.HolderIdentity, "")
}

func (w *world) awaitLeaseHolder(holder string) {
	w.t.Helper()
	testbed.Eventually(w.t, "a lease held by "+holder, func() bool {
		return w.leaseHolder() == holder
	})
}
