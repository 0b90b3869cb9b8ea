package replay

import (
	"slices"
	"time"

	"github.com/samber/lo"

	"github.com/haproxy-discovery/haproxy-discovery/cmd/haproxy-discovery/internal/output"
	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/core/projection"
)

// story follows one pod through a run. The projection gives the verdict in the words of the status
// page: a candidate is told apart by what its agent has answered.
type story struct {
	key       core.PodKey
	projected projection.Projection
	// What was told last.
	facts   output.PodFacts
	verdict projection.Pod
}

// newStory begins with a state whose past is not known.
func newStory(key core.PodKey, state core.State) *story {
	s := &story{key: key, projected: projection.Of(state, time.Time{}), facts: output.FactsOf(state, key)}
	s.verdict, _ = s.projected.Pod(key)
	return s
}

// tell narrows a step to what concerns the pod; false for a step in which nothing does.
func (s *story) tell(step output.Step, before, after core.State) (output.Step, bool) {
	s.projected = s.projected.With(
		core.Step{Before: before, Input: step.Input, After: after, Effects: step.Effects}, step.Time)
	a := aspect{s.key, before, after, inputNames(s.key, step.Input, before)}
	all := len(step.Effects)
	step.Effects = lo.Filter(step.Effects, a.has)
	was, wasKnown := before.Standing(s.key)
	is, isKnown := after.Standing(s.key)
	was.Attempts = is.Attempts // the next attempt tells that a full pass has reset the count
	concerned := wasKnown != isKnown || was != is || a.named || len(step.Effects) > 0
	_, reconfigures := step.Input.(core.ConfigValidated)
	if !concerned && !reconfigures {
		return step, false
	}
	facts := output.FactsOf(after, s.key)
	verdict, _ := s.projected.Pod(s.key)
	if !concerned && !facts.Reselected(s.facts) {
		return step, false
	}
	step.Pod = &output.PodStep{
		Key: s.key, Was: s.facts, Is: facts,
		VerdictWas: s.verdict, Verdict: verdict,
		Queued: is.Queued && !was.Queued, OtherEffects: all - len(step.Effects),
	}
	step.Input, step.Pod.OtherPods = narrowed(s.key, step.Input)
	s.facts, s.verdict = step.Pod.Is, step.Pod.Verdict
	return step, true
}

// inputNames: the input says something of the pod, or is the answer of its agent. Facts that are
// known already say nothing.
func inputNames(key core.PodKey, input core.Input, before core.State) bool {
	switch in := input.(type) {
	case core.ResourceIndexUpdated:
		was, _ := before.Standing(key)
		return slices.ContainsFunc(in.Upserted, func(pod *core.Pod) bool {
			return pod != nil && pod.Key == key && (was.Pod == nil || !pod.Equal(was.Pod))
		}) || slices.ContainsFunc(in.Deleted, func(ref core.PodRef) bool { return ref.Key == key })
	case core.ProbeFinished:
		probe, found := before.Probe(in.Probe)
		return found && probe.Identity.Key() == key
	default:
		return false
	}
}

// narrowed takes the other pods out of an input that lists pods by name.
func narrowed(key core.PodKey, input core.Input) (core.Input, int) {
	in, is := input.(core.ResourceIndexUpdated)
	if !is {
		return input, 0
	}
	all := len(in.Upserted) + len(in.Deleted)
	in.Upserted = lo.Filter(in.Upserted, func(pod *core.Pod, _ int) bool {
		return pod != nil && pod.Key == key
	})
	in.Deleted = lo.Filter(in.Deleted, func(ref core.PodRef, _ int) bool { return ref.Key == key })
	return in, all - len(in.Upserted) - len(in.Deleted)
}

// aspect is a step as one pod sees it.
type aspect struct {
	key           core.PodKey
	before, after core.State
	// named tells that the input says something of the pod.
	named bool
}

// has tells whether an effect concerns the pod. What ends is known by the state before the step,
// what begins by the one after it.
func (a aspect) has(effect core.Effect, _ int) bool {
	switch e := effect.(type) {
	case core.StartProbe:
		return e.Identity.Key() == a.key
	case core.CancelProbe:
		probe, found := a.before.Probe(e.Probe)
		return found && probe.Identity.Key() == a.key
	case core.StartTimer:
		return a.waitsFor(e.Timer, a.after)
	case core.StopTimer:
		return a.waitsFor(e.Timer, a.before)
	case core.Publish:
		return eventNames(a.key, e.Event)
	case core.Refuse:
		return a.named
	default:
		return false
	}
}

// waitsFor: for its retry, or as an admitted pod for its publication.
func (a aspect) waitsFor(timer core.TimerID, state core.State) bool {
	standing, _ := state.Standing(a.key)
	if standing.RetryTimer == timer {
		return true
	}
	unpublished := func() bool { return slices.Contains(slices.Collect(state.Unpublished()), a.key) }
	return timer == state.PublishTimer() && unpublished()
}

func eventNames(key core.PodKey, event core.Event) bool {
	switch e := event.(type) {
	case core.HAProxyPodTerminated:
		return e.Key() == key
	case core.HAProxyPodRejected:
		return e.Key() == key
	case core.HAProxyPodsDiscovered:
		return slices.Contains(e.Added, key) || slices.Contains(e.Updated, key) || slices.Contains(e.Removed, key)
	default:
		return false
	}
}
