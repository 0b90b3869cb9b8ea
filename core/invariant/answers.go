package invariant

import (
	"slices"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// I2, only who answered: the books of answers, and what is compared with them.

// finishProbe frees a probe's place and notes what it says about its candidate: nothing if it was
// cancelled, and nothing if it failed under credentials that are old by now (R24).
func (t *transition) finishProbe(in core.ProbeFinished) {
	index, found := t.probe(in.Probe)
	if !found {
		return
	}
	p := t.probes[index]
	t.probes = slices.Delete(t.probes, index, index+1)
	t.finished, t.finishes = p, true
	lived := p.asks
	if p.Cancelled || lived == nil || lived.over {
		return
	}
	answer, isAnswer := in.Outcome.(core.Answer)
	switch {
	case isAnswer:
		if version := t.versionOf(answer); version.Known() && version != lived.version {
			lived.version = version
			t.updated = t.isPublished(lived.identity)
		}
		lived.answered = true
	case p.Credentials != t.known.credentials:
		return
	default:
		t.failed = true
	}
	t.judged = true
	lived.judged = true
	lived.attempts, lived.resets = t.attemptsOf(lived)+1, t.backoffResets
}

func (t *transition) isPublished(identity core.Identity) bool {
	if !t.published.told {
		return false
	}
	endpoint, found := t.published.fleet.Get(identity.Key())
	return found && endpoint.Identity == identity
}

// checkAnsweredPublished: whom a publication holds is a current candidate whose agent has answered.
func (t *transition) checkAnsweredPublished(s *subject, is core.Endpoint, holds bool) {
	switch {
	case !holds:
	case !s.answered(is.Identity):
		t.violate("I2", "published without an answer in its present candidacy: %s",
			naming(is.Identity))
	case is.Version != s.life.version:
		t.violate("I2", "%s is published with another version than its agent told", s.key)
	}
}

// checkAnsweredAdmitted: the state admits who answered, with the version told last.
func (t *transition) checkAnsweredAdmitted(s *subject) {
	if s.is.Admitted != s.life.answered || s.is.Version != s.life.version {
		t.violate("I2", "%s is admitted: %t, its agent has answered: %t; the version is the same: %t",
			s.key, s.is.Admitted, s.life.answered, s.is.Version == s.life.version)
	}
}
