package invariant

import (
	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// R17, publications in time: whenever one is due, and never else.

// checkDue: there is a reason for a publication, and new credentials are told as such (R16).
func (t *transition) checkDue(e core.HAProxyPodsDiscovered) {
	changed := t.published.told && t.published.fleet.Credentials() != e.Fleet.Credentials()
	if e.CredentialsChanged != changed {
		t.violate("R16", "credentials changed: %t instead of %t", e.CredentialsChanged, changed)
	}
	news := !t.published.told || len(e.Added) > 0
	due := t.fullPass && t.published.told || changed || len(e.Removed) > 0 || t.updated ||
		t.publishTimerFired() || news && !t.firstAttemptsPending()
	if !due {
		t.violate("R17", "generation %d is published before it is due", e.Generation)
	}
}

// checkOverdue: whenever a publication is due, there is one.
func (t *transition) checkOverdue() {
	if t.publishes {
		return
	}
	if t.fullPass && t.published.told {
		t.violate("R17", "a full pass without a publication")
	}
	if t.publishTimerFired() {
		t.violate("R17", "a publication timer fired without a publication")
	}
	news := !t.published.told || t.after.UnpublishedLen() > 0
	if news && !t.firstAttemptsPending() {
		t.violate("R17", "news and no first attempt pending, but no publication")
	}
}

// checkReplays: one to a new leader, none to anybody else (R19).
func (t *transition) checkReplays() {
	_, becameLeader := t.input.(core.BecameLeader)
	replays := 0
	if becameLeader && t.published.told {
		replays = 1
	}
	if t.replays != replays {
		t.violate("R19", "%d replays instead of %d", t.replays, replays)
	}
}

func (t *transition) publishTimerFired() bool {
	fired, isTimer := t.input.(core.TimerFired)
	return isTimer && fired.Timer != 0 &&
		(fired.Timer == t.before.PublishTimer() || fired.Timer == t.before.FirstPublishTimer())
}

// firstAttemptsPending tells whether a first attempt is queued, in flight, or starts in this step.
func (t *transition) firstAttemptsPending() bool {
	if queued, _ := t.after.QueueLen(); queued > 0 {
		return true
	}
	for i := range t.probes {
		if p := &t.probes[i]; !p.Retry && !p.Cancelled {
			return true
		}
	}
	for _, effect := range t.effects {
		start, isStart := effect.(core.StartProbe)
		if isStart && !t.subject(start.Identity.Key()).judged() {
			return true
		}
	}
	return false
}
