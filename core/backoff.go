package core

import (
	"hash/fnv"
	"time"
)

// retryDelay is the wait after the given failed attempt, counted from 1 (R23): it doubles, and it
// is spread by up to 20 % either way so that pods which failed together do not return together.
// The spread is derived from the identity: no random source, the same in a replay.
func (s *step) retryDelay(identity Identity, attempt int) time.Duration {
	delay := doubled(s.config.RetryDelay, attempt-1, s.config.MaxRetryDelay)
	perMille := 800 + int64(spreadOf(identity)%401)
	return min(delay/1000*time.Duration(perMille), s.config.MaxRetryDelay)
}

func spreadOf(identity Identity) uint64 {
	hash := fnv.New64a()
	for _, text := range []string{
		identity.Namespace, identity.Name, identity.UID, string(identity.RuntimeID), identity.URL,
	} {
		_, _ = hash.Write([]byte(text))
		_, _ = hash.Write([]byte{0})
	}
	// FNV's low bits alone follow the last bytes too closely.
	sum := hash.Sum64()
	return sum ^ sum>>32
}

// doubled is base doubled that many times, at most limit.
func doubled(base time.Duration, times int, limit time.Duration) time.Duration {
	for ; times > 0 && base < limit; times-- {
		if base > limit/2 {
			return limit // twice that might not fit a duration
		}
		base *= 2
	}
	return min(base, limit)
}

// armRetry starts the timer for a candidate's next probe. The caller stores the standing.
func (s *step) armRetry(st *standing, delay time.Duration) {
	s.startTimer(&st.timer, delay)
	s.retryTimers = s.retryTimers.Set(uint64(st.timer), st.pod.Key)
}

// stopRetryTimer stops it, if there is one.
func (s *step) stopRetryTimer(timer TimerID) {
	s.retryTimers = s.retryTimers.Delete(uint64(timer))
	s.stopTimer(&timer)
}

func (s *step) timerFired(in TimerFired) {
	s.trigger = TriggerTimerFired
	switch {
	case in.Timer == 0 || in.Timer > s.lastTimer:
		s.refuse("timer_fired: timer %d was never started", in.Timer)
	case in.Timer == s.publishTimer:
		s.publishTimer = 0
		s.due = true
	case in.Timer == s.firstPublishTimer:
		s.firstPublishTimer = 0
		s.due = true
	default:
		s.retryTimerFired(in.Timer)
	}
}

// retryTimerFired queues the candidate's retry. A timer that was stopped while it fired is not
// found, which is no news.
func (s *step) retryTimerFired(timer TimerID) {
	key, found := s.retryTimers.Get(uint64(timer))
	if !found {
		return
	}
	s.retryTimers = s.retryTimers.Delete(uint64(timer))
	st, _ := s.standings.Get(key)
	next := *st
	next.timer = 0
	s.enqueue(&next)
	s.setStanding(&next)
}
