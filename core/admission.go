package core

import "cmp"

// Admission (R5, R10 to R13, R24): a candidate is admitted when its agent answers, and then costs
// no further probe until its identity changes.

func (s *step) probeFinished(in ProbeFinished) {
	s.trigger = TriggerProbeFinished
	probe, found := s.probes.find(in.Probe)
	if !found {
		s.refuse("probe_finished: probe %d is not outstanding", in.Probe)
		return
	}
	s.probes = s.probes.without(in.Probe)
	if probe.cancelled {
		return
	}
	st, _ := s.standings.Get(probe.identity.Key())
	next := *st
	next.probe = 0
	switch outcome := in.Outcome.(type) {
	case Answer:
		s.admit(&next, outcome.HAProxy())
	case Failure:
		outcome.Cause = cmp.Or(outcome.Cause, CauseOther)
		s.failed(&next, probe, outcome)
	default:
		s.failed(&next, probe, Failure{Cause: CauseOther, Detail: "no outcome"})
	}
	s.setStanding(&next)
}

// admit takes an answer in. One without a version admits too, but is not final: the retry schedule
// goes on until a version is known (R13).
func (s *step) admit(st *standing, version Version) {
	st.judged = true
	st.attempts++
	key := st.pod.Key
	was := st.member
	if was == nil || version.Known() { // an admitted agent is only asked while its version is unknown
		st.member = &member{identity: st.identity, version: version}
		s.admitted = s.admitted.Set(key, st.member)
	}
	switch {
	case was == nil:
		s.unpublished = s.unpublished.Set(key, key)
	case was != st.member && !s.unpublished.Has(key):
		s.updated = append(s.updated, key)
	}
	if st.member.version.Known() {
		st.attempts = 0
	} else {
		s.armRetry(st, s.retryDelay(st.identity, st.attempts))
	}
}

// failed rejects a candidate and plans its retry. A failure under credentials that were replaced
// meanwhile is no verdict: the probe is repeated at once (R24). An admitted agent that has yet to
// tell its version is neither retired nor rejected (R13).
func (s *step) failed(st *standing, probe *outstanding, failure Failure) {
	if probe.credentials != s.credentials {
		s.enqueue(st)
		return
	}
	st.judged = true
	st.attempts++
	delay := s.retryDelay(st.identity, st.attempts)
	if st.member == nil {
		s.reportFailed(st, failure, delay)
	}
	s.armRetry(st, delay)
}
