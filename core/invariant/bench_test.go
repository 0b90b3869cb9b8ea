package invariant_test

import (
	"fmt"
	"testing"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/core/invariant"
)

// recorded is a transition that is checked again and again.
type recorded struct {
	before  core.State
	input   core.Input
	after   core.State
	effects []core.Effect
}

// BenchmarkStep is what a cheap monitor adds to a step of a history that goes round and round. It
// must not depend on the size of the fleet.
func BenchmarkStep(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		state, pods := settled(n)
		for _, circle := range []struct {
			name string
			// start leads to the state to which the round returns.
			start, round []core.Input
		}{
			{"pod change", []core.Input{deleted("hap-000000")},
				[]core.Input{upserted(pods[0]), deleted("hap-000000")}},
			{"pod change and answer", []core.Input{deleted("hap-000000")}, []core.Input{
				upserted(pods[0]), answered(0), deleted("hap-000000"),
			}},
			{"retry timer and failure", []core.Input{upserted(pod("hap-000000", "u2"))}, []core.Input{
				failed(0), core.TimerFired{},
			}},
			{"drift", nil, []core.Input{drift(pods...)}},
		} {
			state := state
			for _, input := range circle.start {
				state, _ = core.Reduce(state, input)
			}
			benchmarkRound(b, fmt.Sprintf("%s/pods=%d", circle.name, n), state, circle.round)
		}
	}
}

// benchmarkRound steps along a history, of which it reduces a piece at a time.
func benchmarkRound(b *testing.B, name string, state core.State, round []core.Input) {
	const rounds = 200
	b.Run(name, func(b *testing.B) {
		monitor, state := invariant.NewMonitor(state), state
		var ahead []recorded
		b.ReportAllocs()
		for b.Loop() {
			if len(ahead) == 0 {
				b.StopTimer()
				for range rounds {
					for _, input := range round {
						step := recorded{before: state, input: next(state, input)}
						step.after, step.effects = core.Reduce(state, step.input)
						ahead, state = append(ahead, step), step.after
					}
				}
				b.StartTimer()
			}
			step := &ahead[0]
			ahead = ahead[1:]
			if violations := monitor.Step(step.input, step.after, step.effects); violations != nil {
				b.Fatal(violations)
			}
		}
	})
}

// next is an input of a round, for the probe and the timer that there are by then.
func next(state core.State, input core.Input) core.Input {
	switch in := input.(type) {
	case core.ProbeFinished:
		for p := range state.Outstanding() {
			in.Probe = p.Probe
		}
		return in
	case core.TimerFired:
		for timer := range state.RetryTimers() {
			in.Timer = timer
		}
		return in
	default:
		return input
	}
}

// BenchmarkCheck is a single transition of three pods as a model checker has it checked, for each
// kind of input; "reduce" is the reducer alone.
func BenchmarkCheck(b *testing.B) {
	three := run(caps, published(upserted(pod("c", "u"))))
	for _, step := range []struct {
		name  string
		input core.Input
	}{
		{"answer", answered(3)},
		{"failure", failed(3)},
		{"deleted", deleted("a")},
		{"replaced", upserted(pod("a", "u2"))},
		{"drift", drift(pod("a", "u"), pod("b", "u"), pod("c", "u"))},
		{"leader", core.BecameLeader{}},
	} {
		once := recorded{before: three, input: step.input}
		once.after, once.effects = core.Reduce(three, step.input)
		b.Run(step.name+"/reduce", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				core.Reduce(three, step.input)
			}
		})
		b.Run(step.name+"/cheap", func(b *testing.B) { once.check(b) })
		b.Run(step.name+"/whole", func(b *testing.B) { once.check(b, invariant.Whole()) })
		b.Run(step.name+"/thorough", func(b *testing.B) { once.check(b, invariant.Thorough()) })
	}
}

func (r recorded) check(b *testing.B, options ...invariant.Option) {
	monitor := invariant.NewMonitor(r.before, options...)
	b.ReportAllocs()
	for b.Loop() {
		if violations := monitor.Check(r.before, r.input, r.after, r.effects); violations != nil {
			b.Fatal(violations)
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
