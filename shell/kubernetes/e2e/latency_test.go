package e2e

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/shell/kubernetes/e2e/internal/testbed"
)

// What a change at the API server may take until its termination stands on the standard output, and
// how much of that may be discovery's own doing: a bare informer is told by the same server, and
// does nothing.
const (
	latencyLimit = 50 * time.Millisecond // p99
	extraLimit   = 5 * time.Millisecond  // p99, and all the more the median
	// busy is a machine on which the informer's p99 is beyond this.
	busy = 20 * time.Millisecond
)

// latencyRounds: on a machine that has other things to do, one round within the limits shows that
// discovery was not what took long in the others.
const latencyRounds = 3

func TestLatencyOfTerminations(t *testing.T) {
	w := newWorld(t)
	pods := w.launchMany(40)
	informer, err := testbed.StartInformer(w.ctx, w.client, w.namespace)
	check(t, err)
	d := w.discover("--log-level", "info")
	d.AwaitPods(pods...)

	for round := range latencyRounds {
		l := measureTerminations(t, w, d, informer, pods, 300)
		t.Logf("round %d of at most %d, %v", round+1, latencyRounds, l)
		if l.withinLimits() {
			return
		}
	}
	t.Errorf("no round was within %v in all and %v more than the informer", latencyLimit, extraLimit)
}

// latencies are those of the same changes.
type latencies struct{ discovery, informer, extra durations }

func (l *latencies) add(began, terminated, seen time.Time) {
	l.discovery = append(l.discovery, terminated.Sub(began))
	l.informer = append(l.informer, seen.Sub(began))
	l.extra = append(l.extra, terminated.Sub(seen))
}

func (l latencies) String() string {
	return fmt.Sprintf(`from the change at the API server on:
to Terminated on the standard output: %v
to the event of a bare informer:      %v
the former less the latter:           %v`, l.discovery, l.informer, l.extra)
}

// withinLimits makes allowance for a machine so busy that the informer itself is late now and then:
// discovery, one process further on, may then be so too.
func (l latencies) withinLimits() bool {
	inAll, extra := latencyLimit, extraLimit
	if l.informer.p99() > busy {
		inAll = max(inAll, 2*l.informer.p99())
		extra = max(extra, l.informer.p99()-l.informer.median())
	}
	return l.discovery.p99() <= inAll && l.extra.p99() <= extra && l.extra.median() <= extraLimit
}

// measureTerminations ends n authorities, one after the other, in one of three ways. Each is timed
// from before the request to the API server.
func measureTerminations(
	t *testing.T, w *world, d *testbed.Discovery, informer *testbed.Informer,
	pods []*testbed.Pod, n int,
) (l latencies) {
	t.Helper()
	for i := range n {
		pod := pods[i%len(pods)]
		mark, began := d.Mark(), time.Now()
		switch i % 3 {
		case 0:
			check(t, pod.RestartContainer(w.ctx))
		case 1:
			check(t, pod.Delete(w.ctx, gracePeriod))
		case 2:
			check(t, pod.Delete(w.ctx, 0))
		}
		terminated := d.AwaitTerminated(mark, pod).Arrived
		var seen time.Time
		testbed.Eventually(t, "the informer's event", func() (ok bool) {
			seen, ok = informer.Ended(pod.UID, began)
			return ok
		})
		l.add(began, terminated, seen)
		if i%3 == 1 {
			check(t, pod.Remove(w.ctx))
		}
		if i%3 > 0 {
			pod = w.launch(testbed.Wish{Name: pod.Name, IP: ipOf(pod, i%3 == 1)})
			pods[i%len(pods)] = pod
		}
		d.AwaitPods(pods...)
	}
	return l
}

// ipOf is the pod's address if it is free again.
func ipOf(pod *testbed.Pod, free bool) string {
	if free {
		return pod.IP
	}
	return ""
}

// durations are measurements of one thing.
type durations []time.Duration

func (d durations) quantile(q float64) time.Duration {
	sorted := slices.Sorted(slices.Values(d))
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

func (d durations) median() time.Duration { return d.quantile(0.5) }
func (d durations) p99() time.Duration    { return d.quantile(0.99) }

func (d durations) String() string {
	round := func(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }
	return fmt.Sprintf("p1 %v, median %v, p99 %v, max %v of %d", round(d.quantile(0.01)),
		round(d.median()), round(d.p99()), round(slices.Max(d)), len(d))
}
