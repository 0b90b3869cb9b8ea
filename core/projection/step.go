package projection

import (
	"slices"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// TriggerOf names an input as publications do; empty for one that is none.
func TriggerOf(input core.Input) core.Trigger {
	switch input.(type) {
	case core.ConfigValidated:
		return core.TriggerConfigValidated
	case core.CredentialsUpdated:
		return core.TriggerCredentialsUpdated
	case core.PodStoreSet:
		return core.TriggerPodStoreSet
	case core.ResourceIndexUpdated:
		return core.TriggerResourceIndexUpdated
	case core.ResourceSyncComplete:
		return core.TriggerResourceSyncComplete
	case core.BecameLeader:
		return core.TriggerBecameLeader
	case core.DriftPreventionTriggered:
		return core.TriggerDriftPreventionTriggered
	case core.ProbeFinished:
		return core.TriggerProbeFinished
	case core.TimerFired:
		return core.TriggerTimerFired
	default:
		return ""
	}
}

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

// Touched lists, in the order of their keys, the pods that stand elsewhere after a step than before
// it, those that have come or gone included. It costs what the step names: only an input that holds
// a whole list, or may concern every pod, has all pods compared.
func Touched(step core.Step) []core.PodKey {
	var named []core.PodKey
	switch in := step.Input.(type) {
	case core.ProbeFinished:
		if probe, found := step.Before.Probe(in.Probe); found {
			named = append(named, probe.Identity.Key())
		}
	case core.TimerFired:
		if key, found := step.Before.RetryTimer(in.Timer); found {
			named = append(named, key)
		}
	case core.ResourceIndexUpdated:
		for _, pod := range in.Upserted {
			if pod != nil {
				named = append(named, pod.Key)
			}
		}
		for _, ref := range in.Deleted {
			named = append(named, ref.Key)
		}
	case core.BecameLeader:
	default:
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
