package invariant

import (
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// I8, everybody who waits is remembered: the timers.

func (t *transition) startTimer(e core.StartTimer) {
	if e.Timer <= t.lastTimer {
		t.violate("I8", "timer number %d is not new", e.Timer)
	}
	t.arm(e.Timer, core.PodKey{})
	t.started = append(t.started, e)
}

func (t *transition) stopTimer(e core.StopTimer) {
	if _, armed := t.timers[e.Timer]; !armed {
		t.violate("I8", "timer %d is stopped, but not armed", e.Timer)
	}
	delete(t.timers, e.Timer)
}

// startedNow tells how long a timer runs that has started in this step.
func (t *transition) startedNow(timer core.TimerID) (after time.Duration, isNew bool) {
	for i := range t.started {
		if t.started[i].Timer == timer {
			return t.started[i].After, true
		}
	}
	return 0, false
}

// checkTimers: those that the state counts on are armed, and no others.
func (t *transition) checkTimers() {
	t.checkPublishTimer("PublishDelay", t.before.PublishTimer(), t.after.PublishTimer(),
		t.after.UnpublishedLen() > 0, t.known.config.PublishDelay)
	t.checkPublishTimer("FirstPublishDelay", t.before.FirstPublishTimer(),
		t.after.FirstPublishTimer(), !t.published.told, t.known.config.FirstPublishDelay)
	if counted := timersOf(t.after); counted != len(t.timers) {
		t.violate("I8", "the state counts %d timers, %d are armed", counted, len(t.timers))
	}
}

// timersOf counts the armed timers.
func timersOf(state core.State) int {
	counted := state.RetryTimersLen()
	if state.PublishTimer() != 0 {
		counted++
	}
	if state.FirstPublishTimer() != 0 {
		counted++
	}
	return counted
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
	if runs, isNew := t.startedNow(after); isNew && runs != delay {
		t.violate("R17", "the %s timer runs for %v", name, runs)
	}
	if before != 0 && before != after && !t.publishes {
		t.violate("R17", "the %s timer is put off", name)
	}
}

// checkRemembered: the probe or the timer that the state counts on for a candidate is under way.
func (t *transition) checkRemembered(s *subject) {
	if id := s.is.Probe; id != 0 {
		if i, found := t.probe(id); !found || t.probes[i].asks != s.life {
			t.violate("I8", "probe %d of %s is not in flight", id, s.key)
		}
	}
	if id := s.is.RetryTimer; id != 0 {
		if _, armed := t.timers[id]; !armed {
			t.violate("I8", "the retry timer %d of %s is not armed", id, s.key)
			return
		}
		t.timers[id] = s.key
		t.checkRetryDelay(s)
	}
}
