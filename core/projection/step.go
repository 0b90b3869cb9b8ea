package projection

import (
	"slices"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// FullPass reports whether a step looked at every pod (R7).
func FullPass(step core.Step) bool {
	if !step.After.GateOpen() {
		return false
	}
	switch in := step.Input.(type) {
	case core.ConfigValidated, core.CredentialsUpdated:
		return !refused(step)
	case core.ResourceSyncComplete:
		return in.Resource == core.HAProxyPods
	case core.PodStoreSet, core.DriftPreventionTriggered:
		return true
	default:
		return false
	}
}

// refused reports whether a step has dropped its input as a whole: refusals come first.
func refused(step core.Step) bool {
	if len(step.Effects) == 0 {
		return false
	}
	_, is := step.Effects[0].(core.Refuse)
	return is
}

// Named lists the pods that an input is about, some of them maybe twice, given the state that takes it;
// all reports whether it is about every pod instead.
func Named(before core.State, input core.Input) (keys []core.PodKey, all bool) {
	switch in := input.(type) {
	case core.ProbeFinished:
		if probe, found := before.Probe(in.Probe); found {
			keys = append(keys, probe.Identity.Key())
		}
	case core.TimerFired:
		if key, found := before.RetryTimer(in.Timer); found {
			keys = append(keys, key)
		}
	case core.ResourceIndexUpdated:
		for _, ref := range in.Deleted {
			keys = append(keys, ref.Key)
		}
		for _, pod := range in.Upserted {
			if pod != nil {
				keys = append(keys, pod.Key)
			}
		}
	case core.BecameLeader:
	default:
		return nil, true
	}
	return keys, false
}

// Touched lists, in the order of their keys, the pods that stand elsewhere after a step than before
// it, those that have come or gone included. It costs what the step names: only an input that holds
// a whole list, or may concern every pod, has all pods compared.
func Touched(step core.Step) []core.PodKey {
	named, all := Named(step.Before, step.Input)
	if all {
		return step.After.Changed(step.Before)
	}
	// A place that became free may have gone to any pod.
	for _, effect := range step.Effects {
		if start, is := effect.(core.StartProbe); is {
			named = append(named, start.Identity.Key())
		}
	}
	slices.SortFunc(named, core.PodKey.Compare)
	return slices.DeleteFunc(slices.Compact(named), func(key core.PodKey) bool {
		was, wasKnown := step.Before.Standing(key)
		is, isKnown := step.After.Standing(key)
		return wasKnown == isKnown && was == is
	})
}
