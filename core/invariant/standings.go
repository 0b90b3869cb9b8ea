package invariant

import (
	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// checkStandings looks at where each touched pod stands.
func (t *transition) checkStandings() {
	for _, key := range t.touched {
		if standing, found := t.after.Standing(key); found {
			t.checkStanding(key, standing)
		}
	}
}

func (t *transition) checkStanding(key core.PodKey, standing core.Standing) {
	if standing.Pod.Key != key {
		t.violate("I4", "%s is filed under %s", standing.Pod.Key, key)
	}
	identity, isCandidate := t.candidates[key]
	if isCandidate != (standing.Verdict.Kind == core.IsCandidate) || standing.Identity != identity {
		t.violate("I4", "the verdict on %s is %s (%s), by its facts candidate: %t (%s)", key,
			standing.Verdict.Kind, naming(standing.Identity), isCandidate, naming(identity))
		return
	}
	waits := waitsOf(standing)
	lived := t.lives[key]
	switch final := lived.answered && lived.version.Known(); {
	case !isCandidate && (waits > 0 || standing.Admitted):
		t.violate("I4", "%s is no candidate, but admitted, queued, in flight or armed", key)
	case !isCandidate:
	case final && waits > 0:
		t.violate("I4", "%s is admitted for good, but queued, in flight or armed", key)
	case waits > 1:
		t.violate("I4", "%s is more than one of queued, in flight and armed", key)
	case !final && waits == 0:
		t.violate("I8", "%s is forgotten: not queued, in flight or armed", key)
	}
	if isCandidate {
		t.checkCandidate(key, standing, lived)
	}
}

func (t *transition) checkCandidate(key core.PodKey, standing core.Standing, lived life) {
	if standing.Admitted != lived.answered || standing.Version != lived.version {
		t.violate("I2", "%s is admitted: %t, its agent has answered: %t; the version is the same: %t",
			key, standing.Admitted, lived.answered, standing.Version == lived.version)
	}
	if standing.Retry != lived.judged {
		t.violate("R21", "the next probe of %s is a retry: %t instead of %t",
			key, standing.Retry, lived.judged)
	}
	if p, found := t.probes[standing.Probe]; standing.Probe != 0 &&
		(!found || p.cancelled || p.identity != lived.identity) {
		t.violate("I8", "probe %d of %s is not in flight", standing.Probe, key)
	}
	was, _ := t.before.Standing(key)
	switch {
	case !t.fullPass:
	case standing.RetryTimer != 0 && !standing.Admitted:
		t.violate("R7", "a full pass leaves %s to its retry timer", key)
	case was.Admitted && !t.begun[key] && was.RetryTimer != standing.RetryTimer:
		t.violate("R7", "a full pass does not leave the admitted %s to its retry timer", key)
	}
	t.checkRetryTimer(standing)
}

// waitsOf counts the ways in which a pod waits for its agent's answer.
func waitsOf(standing core.Standing) int {
	waits := 0
	for _, waiting := range []bool{
		standing.Queued, standing.Probe != 0, standing.RetryTimer != 0,
	} {
		if waiting {
			waits++
		}
	}
	return waits
}
