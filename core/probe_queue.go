package core

import "time"

// enqueue puts a candidate at the tail of its queue: first attempts go before retries (R21). The
// caller stores the standing.
func (s *step) enqueue(st *standing) {
	s.lastPlace++
	st.place = s.lastPlace
	if st.judged {
		s.retries = s.retries.Set(st.place, st.pod.Key)
	} else {
		s.firsts = s.firsts.Set(st.place, st.pod.Key)
	}
}

// dequeue takes a candidate that is released out of its queue.
func (s *step) dequeue(was *standing) {
	switch {
	case was.place == 0:
	case was.judged:
		s.retries = s.retries.Delete(was.place)
	default:
		s.firsts = s.firsts.Delete(was.place)
	}
}

// cancelProbe cancels the probe in flight of a candidate that is released. It keeps its place
// among the outstanding ones until it has finished (R24).
func (s *step) cancelProbe(was *standing) {
	if was.probe == 0 {
		return
	}
	s.probes = s.probes.cancel(was.probe)
	s.cancelled = append(s.cancelled, CancelProbe{Probe: was.probe})
}

// launchProbes fills the free places, first attempts first; retries never hold all of them, so
// that a new pod always finds one (R21).
func (s *step) launchProbes() {
	retrying := s.probes.retries()
	for len(s.probes) < s.config.MaxProbes {
		if place, key, found := s.firsts.First(); found {
			s.firsts = s.firsts.Delete(place)
			s.launch(key)
			continue
		}
		place, key, found := s.retries.First()
		if !found || retrying >= s.config.MaxRetries {
			return
		}
		s.retries = s.retries.Delete(place)
		s.launch(key)
		retrying++
	}
}

func (s *step) launch(key PodKey) {
	st, _ := s.standings.Get(key)
	s.lastProbe++
	next := *st
	next.place, next.probe = 0, s.lastProbe
	s.setStanding(&next)
	s.probes = s.probes.with(&outstanding{
		id: s.lastProbe, identity: st.identity, credentials: s.credentials, retry: st.judged,
	})
	s.probed = append(s.probed, StartProbe{
		Probe:       s.lastProbe,
		Identity:    st.identity,
		Credentials: s.credentials,
		Timeout:     s.probeTimeout(st.attempts + 1),
	})
}

// FirstAttemptsPending tells whether a candidate's first attempt is queued or in flight (R17).
func (s State) FirstAttemptsPending() bool {
	if s.firsts.Len() > 0 {
		return true
	}
	for _, probe := range s.probes {
		if !probe.retry && !probe.cancelled {
			return true
		}
	}
	return false
}

// probeTimeout grows with the attempt, counted from 1 (R22).
func (s *step) probeTimeout(attempt int) time.Duration {
	return doubled(s.config.ProbeTimeout, attempt-1, s.config.MaxProbeTimeout)
}
