package invariant_test

import (
	"fmt"
	"testing"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/core/invariant"
)

// BenchmarkMonitor is what a cheap monitor adds to a step, at different sizes of the fleet: it must
// not depend on them.
func BenchmarkMonitor(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		state, pods := settled(n)
		gone, _ := core.Reduce(state, deleted(pods[0].Key.Name))
		for name, step := range map[string]struct {
			before core.State
			inputs []core.Input
		}{
			"replaced": {gone, []core.Input{upserted(pods[0]), deleted(pods[0].Key.Name)}},
			"drift":    {state, []core.Input{drift(pods...)}},
		} {
			b.Run(fmt.Sprintf("%s/pods=%d", name, n), func(b *testing.B) {
				monitor := invariant.NewMonitor(step.before)
				state := step.before
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					b.StopTimer()
					input := step.inputs[i%len(step.inputs)]
					after, effects := core.Reduce(state, input)
					b.StartTimer()
					violations := monitor.Step(input, after, effects)
					state = after
					if violations != nil {
						b.Fatal(violations)
					}
				}
			})
		}
	}
}

// settled has n pods admitted and published.
func settled(n int) (core.State, []*core.Pod) {
	pods := make([]*core.Pod, n)
	for i := range pods {
		pods[i] = pod(fmt.Sprintf("hap-%06d", i), "u")
	}
	state := run(caps, opened(pods...))
	for len(state.Probes()) > 0 {
		state, _ = core.Reduce(state, answered(state.Probes()[0].Probe))
	}
	return state, pods
}
