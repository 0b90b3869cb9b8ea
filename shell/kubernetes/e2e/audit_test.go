package e2e

import (
	"context"
	"strings"
	"testing"
	"time"

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
	begun := time.Now()
	testbed.Eventually(a.w.t, "an audit", func() bool {
		return a.w.fleetAt(a.address).Audit.Verified.After(begun)
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

// etcd is put back from a backup: the pods since then have never been, one that was deleted is there
// again, and the server is behind what the watch knows. Its watch is open and silent.
func TestEtcdRestoredFromABackup(t *testing.T) {
	t.Parallel()
	controlPlane := newControlPlane(t)
	w := newWorldOn(t, controlPlane, nil)
	pods := w.launchMany(3)
	d := w.audit(testbed.Access{}, "3s")
	d.AwaitPods(pods...)

	controlPlane.Kill()
	check(t, controlPlane.Backup())
	check(t, controlPlane.Start(w.ctx))
	check(t, persist(w.ctx, func() error { return pods[1].Delete(w.ctx, 0) }))
	later := []*testbed.Pod{w.launch(testbed.Wish{Name: "later-0"}), w.launch(testbed.Wish{Name: "later-1"})}
	d.AwaitPods(pods[0], pods[2], later[0], later[1])
	d.awaitAudit()
	d.expectLosses(0)
	mark := d.Mark()

	controlPlane.Kill()
	check(t, controlPlane.Restore())
	check(t, controlPlane.Start(w.ctx))
	d.AwaitPods(pods...)
	expectTerminations(t, d.Discovery, mark, later...)
	d.awaitAudit()
	d.expectLosses(1)
	// The new watch is one of the present.
	last := w.launch(testbed.Wish{Name: "last"})
	d.AwaitPods(append(pods, last)...)
	d.awaitAudit()
	d.expectLosses(1)
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
		if !view.Audit.Verified.Equal(verified) || view.FleetSize != 2 || view.Sources[0].State != state {
			a.w.t.Fatalf("verified at %v before, shown is %+v", verified, view)
		}
	}
}
