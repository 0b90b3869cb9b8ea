package e2e

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/haproxy-discovery/haproxy-discovery/shell/kubernetes/e2e/internal/testbed"
)

// audited is a run whose audits a test can wait for. Changes arrive sooner than within a second even
// on a machine that is busy, or there are false alarms.
type audited struct {
	*testbed.Discovery
	w       *world
	address string
}

const lostView = "the view of the pods was lost"

func (w *world) audit(access testbed.Access, interval string) *audited {
	w.t.Helper()
	address := testbed.NewAddress() + ":8080"
	d := w.discoverAs(access, "--audit-interval", interval, "--listen", address)
	return &audited{d, w, address}
}

// awaitAudit waits for an audit that has begun after this moment and confirms the view.
func (a *audited) awaitAudit() {
	a.w.t.Helper()
	begun := time.Now().UTC().Format("2006-01-02T15:04:05.000Z")
	testbed.Eventually(a.w.t, "an audit", func() bool {
		return a.w.fleetAt(a.address).Audit.Verified > begun
	})
}

// expectLosses: so many are told, each in one line, and shown.
func (a *audited) expectLosses(n int) {
	a.w.t.Helper()
	if told := strings.Count(a.Log(), lostView); told != n {
		a.w.t.Errorf("%d lost views are told, want %d", told, n)
	}
	if shown := a.w.fleetAt(a.address).Audit.Lost; shown != n {
		a.w.t.Errorf("%d lost views are shown, want %d", shown, n)
	}
}

// etcd is put back from a backup: the pods since then have never been, and one that was deleted is
// there again. What discovery knows is of a future that the server has left: if its watch is taken up
// from there, it is open and silent.
func TestEtcdRestoredFromABackup(t *testing.T) {
	t.Parallel()
	r := newRestoration(t, true)
	r.restore()
	r.d.AwaitPods(r.pods...)
	expectTerminations(t, r.d.Discovery, r.mark, r.later...)
	r.d.awaitAudit()
	r.d.expectLosses(1)
	if metrics := r.w.get("http://" + r.d.address + "/metrics"); !strings.Contains(
		metrics, "haptic_discovery_lost_views_total 1\n") {
		t.Error("the metrics do not tell of the lost view")
	}
	// The new watch is one of the present.
	last := r.w.launch(testbed.Wish{Name: "last"})
	r.d.AwaitPods(append(r.pods, last)...)
	r.d.awaitAudit()
	r.d.expectLosses(1)
}

// The same without a load balancer, from a backup that is so far behind that the server does not reach
// the version that discovery knows.
func TestEtcdRestoredFromAnOldBackup(t *testing.T) {
	t.Parallel()
	r := newRestoration(t, false)
	r.restore()
	r.d.AwaitPods(r.pods...)
	expectTerminations(t, r.d.Discovery, r.mark, r.later...)
	r.d.awaitAudit()
}

// restoration is a fleet with a backup of its cluster, which is out of date.
type restoration struct {
	t           *testing.T
	w           *world
	d           *audited
	pods, later []*testbed.Pod
	mark        testbed.Mark
}

// newRestoration either has a load balancer before the API server, which hides that it is away, or a
// backup that is far behind.
func newRestoration(t *testing.T, balanced bool) *restoration {
	t.Helper()
	controlPlane := newControlPlane(t)
	w := newWorldOn(t, controlPlane, nil)
	access := testbed.Access{}
	if balanced {
		balancer, err := controlPlane.NewThief()
		check(t, err)
		t.Cleanup(balancer.Close)
		access.Server = balancer.URL
	}
	pods := w.launchMany(3)
	d := w.audit(access, "3s")
	d.AwaitPods(pods...)

	controlPlane.Kill()
	check(t, controlPlane.Backup())
	check(t, controlPlane.Start(w.ctx))
	if !balanced {
		w.write(2000)
	}
	check(t, persist(w.ctx, func() error { return pods[1].Delete(w.ctx, 0) }))
	later := []*testbed.Pod{
		w.launch(testbed.Wish{Name: "later-0"}), w.launch(testbed.Wish{Name: "later-1"}),
	}
	d.AwaitPods(pods[0], pods[2], later[0], later[1])
	d.awaitAudit()
	d.expectLosses(0)
	return &restoration{t, w, d, pods, later, d.Mark()}
}

func (r *restoration) restore() {
	r.w.controlPlane.Kill()
	check(r.t, r.w.controlPlane.Restore())
	r.d.Returns(r.pods[1])
	check(r.t, r.w.controlPlane.Start(r.w.ctx))
}

// write makes the cluster's resource version grow.
func (w *world) write(n int) {
	w.t.Helper()
	w.each(n, func(i int) error {
		return persist(w.ctx, func() error {
			_, err := w.client.CoreV1().ConfigMaps(w.namespace).Create(w.ctx, &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{GenerateName: "written-"},
			}, metav1.CreateOptions{})
			return err
		})
	})
}

// A watch that stays open loses events: a deletion, a replaced container, a new pod.
func TestWatchThatLosesEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	thief, err := w.controlPlane.NewThief()
	check(t, err)
	t.Cleanup(thief.Close)
	pods := w.launchMany(3)
	d := w.audit(testbed.Access{Server: thief.URL}, "3s")
	d.AwaitPods(pods...)
	d.awaitAudit()

	mark := d.Mark()
	thief.Steal("DELETED", pods[0].Name)
	check(t, pods[0].Remove(w.ctx))
	d.AwaitPods(pods[1:]...)
	expectTerminations(t, d.Discovery, mark, pods[0])
	d.awaitAudit()
	if thief.Stolen() != 1 {
		t.Fatalf("%d events were stolen", thief.Stolen())
	}
	d.expectLosses(1)

	thief.Steal("MODIFIED", pods[1].Name)
	check(t, pods[1].RestartContainer(w.ctx))
	d.AwaitTerminated(mark, pods[1])
	d.AwaitPods(pods[1:]...)
	d.awaitAudit()
	d.expectLosses(2)

	// Of a pod that is not there, changes make an informer take it in.
	thief.Steal("MODIFIED", "nobody")
	later := w.launch(testbed.Wish{Name: "later"})
	d.AwaitPods(append(pods[1:], later)...)
	d.awaitAudit()
	d.expectLosses(2)
}

// However much changes between and during audits, there is no alarm.
func TestNoAlarmUnderChurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pods := w.launchMany(20)
	d := w.audit(testbed.Access{}, "5s")
	d.AwaitPods(pods...)

	ctx, stop := context.WithTimeout(w.ctx, 30*time.Second)
	defer stop()
	w.each(len(pods), func(i int) error {
		for round := 0; ctx.Err() == nil; round++ {
			if err := pods[i].Heartbeat(w.ctx, round%2 == 0); err != nil {
				return err
			}
			if round%10 != 9 {
				continue
			}
			next, err := w.kubelet.Launch(w.ctx, testbed.Wish{Name: pods[i].Name + "x"})
			if err != nil {
				return err
			}
			if err := pods[i].Remove(w.ctx); err != nil {
				return err
			}
			pods[i] = next
			if len(next.Name) > 40 {
				return nil
			}
		}
		return nil
	})
	d.AwaitPods(pods...)
	d.awaitAudit()
	d.expectLosses(0)
}

// An audit that is forbidden, or for which nobody is there, changes nothing but its age.
func TestAuditsThatCannotBeMade(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.permit("replica", readPods, readTheSecret)
	proxy := newProxy(t, w)
	pods := w.launchMany(2)
	d := w.audit(testbed.Access{Server: proxy.Address(), Token: w.token("replica")}, "1s")
	d.AwaitPods(pods...)
	d.awaitAudit()
	mark := d.Mark()

	// A watch that is open stays open.
	check(t, w.client.RbacV1().RoleBindings(w.namespace).
		Delete(w.ctx, "replica", metav1.DeleteOptions{}))
	w.awaitAccess("replica", false)
	d.AwaitLog("cannot be audited for now")
	d.expectOnlyAge("connected")
	w.bind("replica")
	d.awaitAudit()

	proxy.Cut()
	d.AwaitLog("no contact with the API server")
	d.expectOnlyAge("out of contact")
	check(t, proxy.Restore())
	d.awaitAudit()

	d.expectLosses(0)
	if events := d.Since(mark, func(testbed.Event) bool { return true }); len(events) > 0 {
		t.Errorf("though nothing has changed: %+v", events)
	}
	for _, line := range []string{"cannot be audited for now", "can be audited again"} {
		if n := strings.Count(d.Log(), line); n != 1 {
			t.Errorf("%q is told %d times", line, n)
		}
	}
}

// expectOnlyAge: for some audits, the last one that was made does not change, nor does anything else.
func (a *audited) expectOnlyAge(state string) {
	a.w.t.Helper()
	verified := a.w.fleetAt(a.address).Audit.Verified
	for deadline := time.Now().Add(3 * time.Second); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		view := a.w.fleetAt(a.address)
		if view.Audit.Verified != verified || view.FleetSize != 2 || view.Sources[0].State != state {
			a.w.t.Fatalf("verified at %s before, shown is %+v", verified, view)
		}
	}
}
