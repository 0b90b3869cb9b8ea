package invariant

import (
	"cmp"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// R7, R8 and R23: exactly those pods are reported as rejected that have to be.

func (t *transition) checkReport(s *subject) {
	failed := t.failed && t.finished.Identity.Key() == s.key
	if e := s.rejected; e != nil && e.Reason == core.ReasonAgentUnreachable && !failed {
		t.violate("R23", "%s is reported as unreachable, but no probe of it has failed", s.key)
	}
	if failed && s.life != nil {
		t.checkFailureReport(s)
	}
	t.checkVerdictReport(s)
}

// checkFailureReport: a failed probe rejects a candidate, unless it is admitted (R13, R23).
func (t *transition) checkFailureReport(s *subject) {
	reported := s.rejected != nil
	if reported == s.life.answered {
		t.violate("R23", "a failed probe of %s, admitted %t, is reported: %t",
			s.key, s.life.answered, reported)
		return
	}
	if !reported {
		return
	}
	failure, _ := t.input.(core.ProbeFinished).Outcome.(core.Failure)
	retryIn, _ := t.startedNow(s.is.RetryTimer)
	want := core.HAProxyPodRejected{
		Namespace: s.key.Namespace, Name: s.key.Name, UID: s.life.identity.UID,
		Reason: core.ReasonAgentUnreachable, Cause: cmp.Or(failure.Cause, core.CauseOther),
		Detail:  s.rejected.Detail, // words for people, which no rule fixes
		Attempt: t.attemptsOf(s.life), RetryIn: retryIn,
	}
	if *s.rejected != want {
		t.violate("R23", "the report on %s is not what its probe's failure says", s.key)
	}
}

// checkVerdictReport: a pod rejected by its facts is reported by each full pass, and by a pod
// change if its UID, reason or cause is news.
func (t *transition) checkVerdictReport(s *subject) {
	reported := s.rejected != nil && s.rejected.Reason != core.ReasonAgentUnreachable
	isRejected := s.verdict.Kind == core.Rejected
	rule, wanted := "R7", isRejected && t.fullPass
	if _, isPodChange := t.indexUpdated(); isPodChange && isRejected {
		rule, wanted = "R8", t.isNews(s)
	}
	if reported != wanted {
		t.violate(rule, "%s is reported by its facts: %t instead of %t", s.key, reported, wanted)
	}
	if !reported || !wanted {
		return
	}
	want := core.HAProxyPodRejected{
		Namespace: s.key.Namespace, Name: s.key.Name, UID: s.is.Pod.UID,
		Reason: s.verdict.Reason, Cause: s.verdict.Cause,
		Detail: s.is.Pod.Detail(s.verdict.Reason),
	}
	if *s.rejected != want {
		t.violate(rule, "the report on %s is not what its facts say", s.key)
	}
}

func (t *transition) isNews(s *subject) bool {
	was, known := t.was(s.key)
	return !known || s.deleted || was.Pod.UID != s.is.Pod.UID || was.Verdict != s.verdict
}

// checkHurried: a full pass retries who has failed at once, and leaves who is admitted to the retry
// timer (R7).
func (t *transition) checkHurried(s *subject) {
	if !t.fullPass {
		return
	}
	was, _ := t.was(s.key)
	switch {
	case s.is.RetryTimer != 0 && !s.is.Admitted:
		t.violate("R7", "a full pass leaves %s to its retry timer", s.key)
	case was.Admitted && !s.begun && was.RetryTimer != s.is.RetryTimer:
		t.violate("R7", "a full pass does not leave the admitted %s to its retry timer", s.key)
	}
}
