package invariant

import (
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// R22 and R23, what grows with the attempts.

func (t *transition) checkTimeLimit(s *subject, e core.StartProbe) {
	limit := doubled(t.known.config.ProbeTimeout, t.attemptsOf(s.life), t.known.config.MaxProbeTimeout)
	if e.Timeout != limit {
		t.violate("R22", "probe %d has %v instead of %v", e.Probe, e.Timeout, limit)
	}
}

// checkRetryDelay: a retry timer that has started runs for the delay of the attempt, spread by up
// to a fifth either way.
func (t *transition) checkRetryDelay(s *subject) {
	after, isNew := t.startedNow(s.is.RetryTimer)
	switch {
	case !isNew:
		return
	case !t.judged:
		t.violate("R23", "a retry timer of %s starts, but its agent had no verdict (R24)", s.key)
	}
	delay := doubled(t.known.config.RetryDelay, t.attemptsOf(s.life)-1, t.known.config.MaxRetryDelay)
	least, most := delay/5*4-time.Microsecond, min(delay/5*6, t.known.config.MaxRetryDelay)
	if after < least || after > most {
		t.violate("R23", "the retry of %s comes after %v, not in %v to %v",
			s.key, after, least, most)
	}
}

// doubled is base doubled that many times, at most limit.
func doubled(base time.Duration, times int, limit time.Duration) time.Duration {
	for ; times > 0 && base < limit; times-- {
		base *= 2
	}
	return min(base, limit)
}
