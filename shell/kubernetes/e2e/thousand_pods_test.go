package e2e

import (
	"fmt"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/haproxy-discovery/haproxy-discovery/shell/kubernetes/e2e/internal/testbed"
)

const (
	thousand = 1000
	// memoryLimit is for the whole life of the program, in bytes.
	memoryLimit = 100 << 20
	// idleLimit is in parts of a core.
	idleLimit = 0.01
	// idleTicks is how long the program is watched doing nothing.
	idleTicks = 10
	// rollTime is how long a rollout of all pods takes.
	rollTime = time.Minute
)

// A fleet of a thousand pods is discovered, left alone for a while, and rolled.
func TestThousandPods(t *testing.T) {
	w := newWorld(t)
	began := time.Now()
	old := w.launchMany(thousand)
	t.Logf("%d pods launched in %v", thousand, time.Since(began).Round(time.Millisecond))
	began = time.Now()
	d := w.discover("--log-level", "info", "--drift-interval", "2s")
	d.AwaitPods(old...)
	t.Logf("discovered in %v, peak memory %d MiB", time.Since(began).Round(time.Millisecond),
		d.PeakMemory()>>20)

	idle(t, w, d)
	roll(t, w, d, old)
	peak := d.PeakMemory()
	t.Logf("peak memory %d MiB", peak>>20)
	if peak > memoryLimit {
		t.Errorf("peak memory %d MiB, want at most %d MiB", peak>>20, memoryLimit>>20)
	}
}

// idle: drift ticks look at every pod, and find nothing to ask of any agent.
func idle(t *testing.T, w *world, d *testbed.Discovery) {
	t.Helper()
	first := d.Await(d.Mark(), "a drift tick", isDriftTick)
	used, probes, mark := d.CPUTime(), w.agents.Requests(), d.Mark()
	var last testbed.Event
	for range idleTicks {
		last = d.Await(mark, "a drift tick", isDriftTick)
		mark = d.Mark()
	}
	used, probes = d.CPUTime()-used, w.agents.Requests()-probes
	took := last.Arrived.Sub(first.Arrived)
	share := used.Seconds() / took.Seconds()
	t.Logf("idle: %d probes and %v of CPU in %v with %d drift ticks, %.2f %% of a core", probes, used,
		took.Round(time.Millisecond), idleTicks, 100*share)
	if probes > 0 {
		t.Errorf("%d probes of admitted pods", probes)
	}
	if share > idleLimit {
		t.Errorf("%.2f %% of a core, want at most %.2f %%", 100*share, 100*idleLimit)
	}
}

// roll replaces each pod by one under another name, all within a minute.
func roll(t *testing.T, w *world, d *testbed.Discovery, old []*testbed.Pod) {
	t.Helper()
	informer, err := testbed.StartInformer(w.ctx, w.client, w.namespace)
	check(t, err)
	mark, began := d.Mark(), time.Now()
	updated := make([]*testbed.Pod, len(old))
	asked := make([]time.Time, len(old))
	var group errgroup.Group
	group.SetLimit(32) // where the API server falls behind, the rollout takes longer
	pace := time.NewTicker(rollTime / time.Duration(len(old)))
	defer pace.Stop()
	for i := range old {
		group.Go(func() (err error) {
			updated[i], err = w.kubelet.Launch(w.ctx, testbed.Wish{
				Name: fmt.Sprintf("haproxy-new-%d", i), Answer: testbed.Running("3.4.4"),
			})
			if err != nil {
				return err
			}
			asked[i] = time.Now()
			if err := old[i].Delete(w.ctx, gracePeriod); err != nil {
				return err
			}
			return old[i].Remove(w.ctx)
		})
		<-pace.C
	}
	check(t, group.Wait())
	took := time.Since(began)
	t.Logf("%d pods rolled in %v", len(old), took.Round(time.Millisecond))
	if took > 2*rollTime { // a machine that is busy may need longer, but not any time
		t.Errorf("rolled in %v, to show anything it has to be about %v", took, rollTime)
	}
	d.AwaitPods(updated...)
	expectTerminations(t, d, mark, old...)

	terminated := map[string]time.Time{}
	for _, event := range d.Since(mark, isTerminated) {
		terminated[event.UID] = event.Arrived
	}
	var l latencies
	for i, pod := range old {
		seen, ended := informer.Ended(pod.UID, asked[i])
		if !ended {
			t.Errorf("the bare informer has missed the end of %s", pod.Name)
			continue
		}
		l.add(asked[i], terminated[pod.UID], seen)
	}
	t.Logf("meanwhile, %v", l)
}
