package invariant

import (
	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// I1, termination before publish.

// terminate: whom Terminated names is published, is named once, and is no longer what its agent's
// answer admitted.
func (t *transition) terminate(e core.HAProxyPodTerminated) {
	s := t.subject(e.Key())
	switch {
	case !s.isTold || s.told.Identity != e.Identity:
		t.violate("I1", "terminated, but not published: %s", naming(e.Identity))
	case s.terminated:
		t.violate("I1", "terminated twice: %s", naming(e.Identity))
	case s.answered(e.Identity):
		t.violate("I1", "terminated, but still admitted: %s", naming(e.Identity))
	}
	if cause, told := t.terminationCause(s); told && e.Cause != cause {
		t.violate("R14", "%s is terminated as %q instead of %q", s.key, e.Cause, cause)
	}
	s.terminated = true
	t.terminated++
}

// terminationCause is the first cause that fits (R14), for a pod that was a candidate before.
func (t *transition) terminationCause(s *subject) (cause core.Cause, told bool) {
	was, known := t.was(s.key)
	if !known || was.Verdict.Kind != core.IsCandidate {
		return "", false
	}
	settings, _ := t.before.Settings()
	switch {
	case s.deleted, !s.remains:
		return core.CauseDeleted, true
	case s.is.Pod.UID != was.Pod.UID:
		return core.CauseReplaced, true
	case s.verdict.Kind == core.Ignored:
		return s.verdict.Cause, true
	case s.verdict.Reason == core.ReasonMalformedPod:
		return core.CauseMalformed, true
	case s.verdict.Reason == core.ReasonAgentContainerNotRunning:
		return core.CauseAgentNotRunning, true
	case settings.AgentPort != t.known.settings.AgentPort:
		return core.CausePortChanged, true
	case s.is.Pod.IP != was.Pod.IP:
		return core.CauseAddressChanged, true
	default:
		return core.CauseContainerRestarted, true
	}
}

// checkTerminated: exactly those that a publication no longer holds were terminated before.
func (t *transition) checkTerminated(s *subject, is core.Endpoint, holds bool) {
	stays := holds && is.Identity == s.told.Identity
	switch {
	case !s.isTold:
	case stays && s.terminated:
		t.violate("I1", "terminated and published again: %s", naming(s.told.Identity))
	case !stays && !s.terminated:
		t.violate("I1", "gone without Terminated: %s", naming(s.told.Identity))
	}
}

func (t *transition) checkTerminations(e core.HAProxyPodsDiscovered) {
	if t.terminated != len(e.Removed) {
		t.violate("I1", "%d terminated, %d listed as removed", t.terminated, len(e.Removed))
	}
}
