package e2e

import (
	"testing"

	"github.com/haproxy-discovery/haproxy-discovery/shell/kubernetes/e2e/internal/testbed"
)

// Readiness comes and goes with the first configuration, which needs discovery first: it is nothing
// to discovery. The pod that comes last is the only one that is probed and told of.
func TestReadinessFlapsChangeNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pods := w.launchMany(10)
	d := w.discover()
	d.AwaitPods(pods...)

	mark, probes := d.Mark(), w.agents.Requests()
	w.each(len(pods), func(i int) error {
		for _, ready := range []bool{true, false, true} {
			if err := pods[i].Heartbeat(w.ctx, ready); err != nil {
				return err
			}
		}
		return nil
	})
	later := w.launch(testbed.Wish{Name: "later"})
	d.AwaitPods(append(pods, later)...)
	if events := d.Since(mark, func(testbed.Event) bool { return true }); len(events) != 1 {
		t.Errorf("%d events, want the one that tells of the pod that came last: %+v", len(events), events)
	}
	if n := w.agents.Requests() - probes; n != 1 {
		t.Errorf("%d probes, want the one of the pod that came last", n)
	}
}
