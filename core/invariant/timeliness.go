package invariant

import (
	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// mayPublish tells whether there is a reason for a publication (R17).
func (t *transition) mayPublish(e core.HAProxyPodsDiscovered, credentialsChanged bool) bool {
	news := t.published == nil || len(e.Added) > 0
	return t.fullPass && t.published != nil || credentialsChanged || len(e.Removed) > 0 ||
		t.updated || t.publishTimerFired() || news && !t.firstAttemptsPending()
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
	for _, p := range t.probes {
		if !p.retry && !p.cancelled {
			return true
		}
	}
	for _, effect := range t.effects {
		start, isStart := effect.(core.StartProbe)
		if isStart && !t.lives[start.Identity.Key()].judged {
			return true
		}
	}
	return false
}

// checkPublished: at the end of a step, what was last published is true and nothing is overdue.
func (t *transition) checkPublished() {
	t.checkRemembered()
	t.checkOverdue()
	if t.publication == nil && len(t.terminated) > 0 {
		t.violate("R14", "Terminated without a publication in the same step")
	}
	_, becameLeader := t.input.(core.BecameLeader)
	replays := 0
	if becameLeader && t.published != nil {
		replays = 1
	}
	if t.replays != replays {
		t.violate("R19", "%d replays instead of %d", t.replays, replays)
	}
	if t.published == nil {
		return
	}
	if t.published.fleet.Credentials() != t.known.credentials {
		t.violate("R16", "new credentials are not published in the same step")
	}
	for _, key := range t.touched {
		endpoint, found := t.published.fleet.Get(key)
		switch lived := t.lives[key]; {
		case !found:
		case !t.isAdmitted(endpoint.Identity):
			t.violate("R14", "not retired in the same step: %s", naming(endpoint.Identity))
		case endpoint.Version != lived.version:
			t.violate("R16", "the version of %s is not published in the same step", key)
		}
	}
}

// checkRemembered: the state remembers what was told (I7).
func (t *transition) checkRemembered() {
	fleet, generation, published := t.after.Published()
	switch {
	case published != (t.published != nil):
		t.violate("I7", "the state has published: %t instead of %t", published, !published)
	case !published:
	case generation != t.published.generation,
		t.thorough && !sameFleet(fleet, t.published.fleet):
		t.violate("I7", "the state's last publication %d is not the one told, %d",
			generation, t.published.generation)
	}
}

// checkOverdue: whenever a publication is due, there is one (R17).
func (t *transition) checkOverdue() {
	if t.publication != nil {
		return
	}
	if t.fullPass && t.published != nil {
		t.violate("R17", "a full pass without a publication")
	}
	if t.publishTimerFired() {
		t.violate("R17", "a publication timer fired without a publication")
	}
	if (t.published == nil || t.hasUnpublished()) && !t.firstAttemptsPending() {
		t.violate("R17", "news and no first attempt pending, but no publication")
	}
}
