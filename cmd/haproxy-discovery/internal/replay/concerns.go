package replay

import (
	"slices"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// concerns tells whether a step is about a pod: its input names the pod or the answer of its agent,
// an effect does, or the pod stands elsewhere afterwards.
func concerns(
	key core.PodKey, input core.Input, effects []core.Effect, before, after core.State,
) bool {
	was, wasKnown := before.Standing(key)
	is, isKnown := after.Standing(key)
	if wasKnown != isKnown || was != is {
		return true
	}
	return inputNames(key, input, before) || slices.ContainsFunc(effects, func(effect core.Effect) bool {
		return effectNames(key, effect, before)
	})
}

func inputNames(key core.PodKey, input core.Input, before core.State) bool {
	switch in := input.(type) {
	case core.ResourceIndexUpdated:
		return slices.ContainsFunc(in.Upserted, func(pod *core.Pod) bool { return pod != nil && pod.Key == key }) ||
			slices.ContainsFunc(in.Deleted, func(ref core.PodRef) bool { return ref.Key == key })
	case core.ProbeFinished:
		probe, found := before.Probe(in.Probe)
		return found && probe.Identity.Key() == key
	default:
		return false
	}
}

// effectNames: a probe is named by what was known of it before the step.
func effectNames(key core.PodKey, effect core.Effect, before core.State) bool {
	switch e := effect.(type) {
	case core.StartProbe:
		return e.Identity.Key() == key
	case core.CancelProbe:
		probe, found := before.Probe(e.Probe)
		return found && probe.Identity.Key() == key
	case core.Publish:
		return eventNames(key, e.Event)
	default:
		return false
	}
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
