package invariant

import (
	"cmp"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// checkReports: exactly those pods are reported as rejected that have to be (R7, R8, R23).
func (t *transition) checkReports() {
	for key, e := range t.rejected {
		hasFailed := t.failed && t.finished.identity.Key() == key
		if e.Reason == core.ReasonAgentUnreachable && !hasFailed {
			t.violate("R23", "%s is reported as unreachable, but no probe of it has failed", key)
		}
	}
	if t.failed {
		t.checkFailureReport()
	}
	for _, key := range t.touched {
		t.checkVerdictReport(key)
	}
}

// checkFailureReport: a failed probe rejects a candidate, unless it is admitted (R13, R23).
func (t *transition) checkFailureReport() {
	key := t.finished.identity.Key()
	lived := t.lives[key]
	e, reported := t.rejected[key]
	if reported == lived.answered {
		t.violate("R23", "a failed probe of %s, admitted %t, is reported: %t",
			key, lived.answered, reported)
		return
	}
	if !reported {
		return
	}
	failure, _ := t.input.(core.ProbeFinished).Outcome.(core.Failure)
	standing, _ := t.after.Standing(key)
	want := core.HAProxyPodRejected{
		Namespace: key.Namespace, Name: key.Name, UID: lived.identity.UID,
		Reason: core.ReasonAgentUnreachable, Cause: cmp.Or(failure.Cause, core.CauseOther),
		Attempt: t.attemptsOf(lived), RetryIn: t.started[standing.RetryTimer].After,
	}
	e.Detail = ""
	if e != want {
		t.violate("R23", "the report on %s is not what its probe's failure says", key)
	}
}

// checkVerdictReport: a pod rejected by its facts is reported by each full pass, and by a pod
// change if its UID, reason or cause is news.
func (t *transition) checkVerdictReport(key core.PodKey) {
	e, reported := t.rejected[key]
	reported = reported && e.Reason != core.ReasonAgentUnreachable
	standing, found := t.after.Standing(key)
	isRejected := found && standing.Verdict.Kind == core.Rejected
	_, isPodChange := t.input.(core.ResourceIndexUpdated)
	rule, wanted := "R7", isRejected && t.fullPass
	if isPodChange && isRejected {
		was, found := t.before.Standing(key)
		isNews := !found || t.deleted[key] || was.Pod.UID != standing.Pod.UID ||
			was.Verdict != standing.Verdict
		rule, wanted = "R8", isNews
	}
	if reported != wanted {
		t.violate(rule, "%s is reported by its facts: %t instead of %t", key, reported, wanted)
	}
	if !reported || !wanted {
		return
	}
	want := core.HAProxyPodRejected{
		Namespace: key.Namespace, Name: key.Name, UID: standing.Pod.UID, Detail: standing.Pod.Malformed,
		Reason: standing.Verdict.Reason, Cause: standing.Verdict.Cause,
	}
	if e != want {
		t.violate(rule, "the report on %s is not what its facts say", key)
	}
}
