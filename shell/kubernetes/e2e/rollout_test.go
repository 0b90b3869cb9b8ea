package e2e

import (
	"fmt"
	"testing"

	"github.com/haproxy-discovery/haproxy-discovery/shell/kubernetes/e2e/internal/testbed"
)

// A Deployment's rollout as far as discovery sees it: each new pod is there before an old one goes,
// which goes gracefully. One new agent hangs and holds nothing back.
func TestRolloutOf50Pods(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	old := w.launchMany(50)
	d := w.discover()
	d.AwaitPods(old...)

	rollout := d.Mark()
	updated := make([]*testbed.Pod, len(old))
	w.each(len(old), func(i int) (err error) {
		wish := testbed.Wish{
			Name: fmt.Sprintf("haproxy-new-%d", i), Answer: testbed.Running("3.4.4"),
		}
		if i == 7 {
			wish.Answer = testbed.Hung
		}
		if updated[i], err = w.kubelet.Launch(w.ctx, wish); err != nil {
			return err
		}
		if err := old[i].Delete(w.ctx, gracePeriod); err != nil {
			return err
		}
		return old[i].Remove(w.ctx)
	})
	admitted := append(updated[:7:7], updated[8:]...)
	d.AwaitPods(admitted...)
	d.AwaitFleet("the new version everywhere", func(fleet testbed.Fleet) bool {
		for _, endpoint := range fleet {
			if endpoint.Version != "3.4.4" {
				return false
			}
		}
		return true
	})
	for _, pod := range old {
		expectCauseOfDeletion(t, d.AwaitTerminated(rollout, pod))
	}
	expectTerminations(t, d, rollout, old...)
	hung := updated[7]
	d.Await(rollout, "rejection of the hung agent", func(event testbed.Event) bool {
		return event.Kind == testbed.Rejected && event.UID == hung.UID && event.Cause == "timeout"
	})
	hung.Agent.Answer(testbed.Running("3.4.4"))
	d.AwaitPods(updated...)
}
