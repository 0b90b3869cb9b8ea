package invariant

import (
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

func (t *transition) startTimer(e core.StartTimer) {
	if e.Timer <= t.lastTimer {
		t.violate("I8", "timer number %d is not new", e.Timer)
	}
	t.lastTimer = max(t.lastTimer, e.Timer)
	t.timers[e.Timer] = core.PodKey{}
	t.started[e.Timer] = e
}

func (t *transition) stopTimer(e core.StopTimer) {
	if _, armed := t.timers[e.Timer]; !armed {
		t.violate("I8", "timer %d is stopped, but not armed", e.Timer)
	}
	delete(t.timers, e.Timer)
}

// checkTimers: those that the state counts on are armed, and no others (I8).
func (t *transition) checkTimers() {
	config := t.config
	t.checkPublishTimer("PublishDelay", t.before.PublishTimer(), t.after.PublishTimer(),
		t.hasUnpublished(), config.PublishDelay)
	t.checkPublishTimer("FirstPublishDelay", t.before.FirstPublishTimer(),
		t.after.FirstPublishTimer(), t.published == nil, config.FirstPublishDelay)
	counted := t.after.RetryTimersLen()
	for _, id := range []core.TimerID{t.after.PublishTimer(), t.after.FirstPublishTimer()} {
		if id != 0 {
			counted++
		}
	}
	if counted != len(t.timers) {
		t.violate("I8", "the state counts %d timers, %d are armed", counted, len(t.timers))
	}
}

func (t *transition) hasUnpublished() bool {
	for range t.after.Unpublished() {
		return true
	}
	return false
}

// checkPublishTimer: it is armed exactly while it is wanted, for the delay, and not put off: only
// firing and publishing end it.
func (t *transition) checkPublishTimer(
	name string, before, after core.TimerID, wanted bool, delay time.Duration,
) {
	if wanted != (after != 0) {
		t.violate("I8", "the %s timer is armed: %t instead of %t", name, after != 0, wanted)
	}
	if after == 0 {
		return
	}
	if _, armed := t.timers[after]; !armed {
		t.violate("I8", "the %s timer %d is not armed", name, after)
	}
	if start, isNew := t.started[after]; isNew && start.After != delay {
		t.violate("R17", "the %s timer runs for %v", name, start.After)
	}
	if before != 0 && before != after && t.publication == nil {
		t.violate("R17", "the %s timer is put off", name)
	}
}

// checkRetryTimer: it is armed, and its delay grows with the attempts (R23).
func (t *transition) checkRetryTimer(standing core.Standing) {
	id, key := standing.RetryTimer, standing.Pod.Key
	if id == 0 {
		return
	}
	if _, armed := t.timers[id]; !armed {
		t.violate("I8", "the retry timer %d of %s is not armed", id, key)
		return
	}
	t.timers[id] = key
	start, isNew := t.started[id]
	if !isNew {
		return
	}
	config := t.config
	delay := doubled(config.RetryDelay, t.attemptsOf(t.lives[key])-1, config.MaxRetryDelay)
	least, most := delay/5*4-time.Microsecond, min(delay/5*6, config.MaxRetryDelay)
	if start.After < least || start.After > most {
		t.violate("R23", "the retry of %s comes after %v, not in %v to %v",
			key, start.After, least, most)
	}
}
