package invariant

import (
	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// terminate: whom Terminated names is published, is named once, and is no longer what its agent's
// answer admitted (I1).
func (t *transition) terminate(e core.HAProxyPodTerminated) {
	switch {
	case t.terminated[e.Identity]:
		t.violate("I1", "terminated twice: %s", naming(e.Identity))
	case !t.isPublished(e.Identity):
		t.violate("I1", "terminated, but not published: %s", naming(e.Identity))
	case t.isAdmitted(e.Identity):
		t.violate("I1", "terminated, but still admitted: %s", naming(e.Identity))
	}
	if cause, told := t.terminationCause(e.Key()); told && e.Cause != cause {
		t.violate("R14", "%s is terminated as %q instead of %q", e.Key(), e.Cause, cause)
	}
	t.terminated[e.Identity] = true
}

// terminationCause is the first cause that fits (R14), for a pod that was a candidate before.
func (t *transition) terminationCause(key core.PodKey) (cause core.Cause, told bool) {
	was, known := t.before.Standing(key)
	if !known || was.Verdict.Kind != core.IsCandidate {
		return "", false
	}
	is, remains := t.after.Standing(key)
	config, _ := t.before.Settings()
	switch {
	case t.deleted[key], !remains:
		return core.CauseDeleted, true
	case is.Pod.UID != was.Pod.UID:
		return core.CauseReplaced, true
	case is.Verdict.Kind == core.Ignored:
		return is.Verdict.Cause, true
	case is.Verdict.Reason == core.ReasonMalformedPod:
		return core.CauseMalformed, true
	case is.Verdict.Reason == core.ReasonAgentContainerNotRunning:
		return core.CauseAgentNotRunning, true
	case config.AgentPort != t.known.config.AgentPort:
		return core.CausePortChanged, true
	case is.Pod.IP != was.Pod.IP:
		return core.CauseAddressChanged, true
	default:
		return core.CauseContainerRestarted, true
	}
}

// checkTerminations: exactly those that are missing were terminated before (I1).
func (t *transition) checkTerminations(e core.HAProxyPodsDiscovered, older core.Fleet) {
	missing := 0
	for _, key := range t.touched {
		was, held := older.Get(key)
		is, holds := e.Fleet.Get(key)
		stays := holds && is.Identity == was.Identity
		switch {
		case !held:
		case stays && t.terminated[was.Identity]:
			t.violate("I1", "terminated and published again: %s", naming(was.Identity))
		case stays:
		case !t.terminated[was.Identity]:
			t.violate("I1", "gone without Terminated: %s", naming(was.Identity))
			missing++
		default:
			missing++
		}
	}
	if missing != len(t.terminated) || missing != len(e.Removed) {
		t.violate("I1", "%d gone, %d terminated, %d listed as removed",
			missing, len(t.terminated), len(e.Removed))
	}
}
