package e2e

import (
	"testing"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/shell/kubernetes/e2e/internal/testbed"
)

// gracePeriod is Kubernetes' default. No test waits for it to pass: the kubelet, that is the test,
// may remove a pod earlier.
const gracePeriod = 30 * time.Second

// The pod goes on until the kubelet and the finalizer let it go, and its agent answers. The
// authority over it ends with the deletion, and what happens later ends nothing more.
func TestGracefulDeletionWithFinalizer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	kept := w.launch(testbed.Wish{Name: "kept"})
	leaving := w.launch(testbed.Wish{Name: "leaving", Finalizers: []string{"lb.test/drain"}})
	d := w.discover()
	d.AwaitPods(kept, leaving)

	mark := d.Mark()
	check(t, leaving.Delete(w.ctx, gracePeriod))
	event := d.AwaitTerminated(mark, leaving)
	if event.Cause != "terminating" {
		t.Errorf("terminated because %s, want terminating", event.Cause)
	}
	d.AwaitPods(kept)
	check(t, leaving.Remove(w.ctx)) // the containers are gone, the finalizer still holds the pod
	check(t, leaving.RemoveFinalizers(w.ctx))

	// What a later pod causes comes after whatever the removal could cause.
	later := w.launch(testbed.Wish{Name: "later"})
	d.AwaitPods(kept, later)
	expectTerminations(t, d, mark, leaving)
}

func TestForceDeletion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	kept := w.launch(testbed.Wish{Name: "kept"})
	leaving := w.launch(testbed.Wish{Name: "leaving"})
	d := w.discover()
	d.AwaitPods(kept, leaving)

	mark := d.Mark()
	check(t, leaving.Delete(w.ctx, 0)) // its agent goes on answering
	expectCauseOfDeletion(t, d.AwaitTerminated(mark, leaving))
	d.AwaitPods(kept)
	expectTerminations(t, d, mark, leaving)
}

// expectCauseOfDeletion: the API server announces even a deletion without grace before it carries
// it out, and discovery looks at the pods as they are by then: which of the two it sees is luck.
func expectCauseOfDeletion(t *testing.T, event testbed.Event) {
	t.Helper()
	if event.Cause != "terminating" && event.Cause != "deleted" {
		t.Errorf("%s: terminated because %s, want terminating or deleted", event.Name, event.Cause)
	}
}

// expectTerminations: of these pods, once each, and of no others.
func expectTerminations(
	t *testing.T, d *testbed.Discovery, mark testbed.Mark, pods ...*testbed.Pod,
) {
	t.Helper()
	others := expectTerminatedOnce(t, d, mark, pods...)
	if len(others) > 0 {
		t.Errorf("terminated though nothing has happened to them: %v", others)
	}
}

// expectTerminatedOnce gives how often others were terminated, by UID.
func expectTerminatedOnce(
	t *testing.T, d *testbed.Discovery, mark testbed.Mark, pods ...*testbed.Pod,
) (others map[string]int) {
	t.Helper()
	times := map[string]int{}
	for _, event := range d.Since(mark, isTerminated) {
		times[event.UID]++
	}
	for _, pod := range pods {
		if times[pod.UID] != 1 {
			t.Errorf("%s: terminated %d times, want once", pod.Name, times[pod.UID])
		}
		delete(times, pod.UID)
	}
	return times
}

func isTerminated(event testbed.Event) bool { return event.Kind == testbed.Terminated }
