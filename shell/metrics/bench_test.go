package metrics_test

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell"
	"github.com/haproxy-discovery/haproxy-discovery/shell/internal/loopback"
	"github.com/haproxy-discovery/haproxy-discovery/shell/metrics"
)

// BenchmarkStep is what a pod's replacement costs, both of its steps together, at 1,000 pods: the
// reducer alone, and what the metrics add, measured in the same run.
func BenchmarkStep(b *testing.B) {
	state := admitted(b, 1_000)
	observers := []shell.Observer{metrics.New()}
	var alone, added []time.Duration
	seq := uint64(0)
	step := func(input core.Input) (effects []core.Effect, reducing, observing time.Duration) {
		seq++
		begun := time.Now()
		after, effects := core.Reduce(state, input)
		reduced := time.Now()
		done := shell.Step{
			Seq: seq, Time: begun, Took: reduced.Sub(begun),
			Step: core.Step{Before: state, Input: input, After: after, Effects: effects},
		}
		for _, observer := range observers {
			observer.Reduced(done)
		}
		state = after
		return effects, done.Took, time.Since(reduced)
	}
	for n := 0; b.Loop(); n++ {
		pod := benchPod(n%1_000, fmt.Sprintf("v%d", n))
		effects, r1, o1 := step(core.ResourceIndexUpdated{Resource: core.HAProxyPods, Upserted: []*core.Pod{pod}})
		start := effects[len(effects)-1].(core.StartProbe)
		_, r2, o2 := step(core.ProbeFinished{Probe: start.Probe, Outcome: core.Answer{Version: "3.4.3"}})
		alone, added = append(alone, r1+r2), append(added, o1+o2)
	}
	report(b, alone, added)
}

// BenchmarkDriftStep is a drift tick that finds 10,000 pods unchanged.
func BenchmarkDriftStep(b *testing.B) {
	state := admitted(b, 10_000)
	pods := make([]*core.Pod, 0, state.Len())
	for standing := range state.Standings() {
		pods = append(pods, standing.Pod)
	}
	counted := metrics.New()
	var alone, added []time.Duration
	for b.Loop() {
		begun := time.Now()
		tick := core.DriftPreventionTriggered{Pods: pods}
		after, effects := core.Reduce(state, tick)
		reduced := time.Now()
		done := shell.Step{
			Time: begun, Step: core.Step{Before: state, Input: tick, After: after, Effects: effects},
		}
		counted.Reduced(done)
		alone, added = append(alone, reduced.Sub(begun)), append(added, time.Since(reduced))
	}
	report(b, alone, added)
}

func report(b *testing.B, alone, added []time.Duration) {
	slices.Sort(alone)
	slices.Sort(added)
	b.ReportMetric(float64(alone[len(alone)/2].Nanoseconds()), "reduce-ns")
	b.ReportMetric(float64(added[len(added)/2].Nanoseconds()), "added-ns")
}

func benchPod(i int, uid string) *core.Pod {
	return &core.Pod{
		Key: core.PodKey{Namespace: "lb", Name: fmt.Sprintf("hap-%05d", i)}, UID: uid,
		IP: netip.MustParseAddr("10.1.0.10"), Phase: core.PhaseRunning, Agent: core.AgentRunning,
	}
}

// admitted is the state in which every agent has answered.
func admitted(b *testing.B, pods int) core.State {
	list := make([]*core.Pod, pods)
	for i := range list {
		list[i] = benchPod(i, fmt.Sprintf("u%d", i))
	}
	state := core.New(core.Config{})
	waiting := []core.Input{
		core.ConfigValidated{AgentPort: 5555}, core.CredentialsUpdated{Credentials: loopback.Credentials()},
		core.PodStoreSet{Pods: list, Synced: core.SyncDone},
	}
	for len(waiting) > 0 {
		next, effects := core.Reduce(state, waiting[0])
		state, waiting = next, waiting[1:]
		for _, effect := range effects {
			if start, is := effect.(core.StartProbe); is {
				waiting = append(waiting,
					core.ProbeFinished{Probe: start.Probe, Outcome: core.Answer{Version: "3.4.3"}})
			}
		}
	}
	if state.Admitted().Len() != pods {
		b.Fatalf("%d pods admitted", state.Admitted().Len())
	}
	return state
}
