package core

import "slices"

// resourceIndexUpdated looks only at the pods that the input names (R8), in the order of their keys
// (R14). Of one key the deletion applies first; one that names another incarnation than the stored
// one is the late delete of a predecessor (R9).
func (s *step) resourceIndexUpdated(in ResourceIndexUpdated) {
	s.trigger = TriggerResourceIndexUpdated
	if !s.ours(in.Resource) {
		return
	}
	upserted := s.ordered(in.Upserted)
	deleted := lastOfEachKey(slices.Clone(in.Deleted), func(ref PodRef) PodKey { return ref.Key })
	for _, ref := range deleted {
		for len(upserted) > 0 && upserted[0].Key.Compare(ref.Key) < 0 {
			s.upsert(upserted[0])
			upserted = upserted[1:]
		}
		if st, found := s.standings.Get(ref.Key); found && st.pod.UID == ref.UID {
			s.forget(st)
		}
	}
	for _, pod := range upserted {
		s.upsert(pod)
	}
}

func (s *step) upsert(pod *Pod) {
	st, found := s.standings.Get(pod.Key)
	if !found || !st.pod.Equal(pod) {
		s.judge(st, pod)
	}
}

// judge takes in the facts of a pod, given where it stood before (nil for a new one), and decides
// where it stands now. A candidate keeps what it has reached only as the same identity (R11, R12).
func (s *step) judge(was *standing, pod *Pod) {
	if !s.gateOpen {
		s.setStanding(&standing{pod: pod})
		return
	}
	is := &standing{pod: pod, verdict: s.settings.judge(pod)}
	if is.verdict.Kind == IsCandidate {
		is.identity = identityOf(pod, s.config.AgentScheme, s.settings.validated.AgentPort)
	}
	if was != nil && was.verdict.Kind == IsCandidate {
		if is.identity == was.identity {
			kept := *was
			kept.pod = pod
			s.setStanding(&kept)
			return
		}
		s.release(was, s.terminationCause(was, is))
	}
	if is.verdict.Kind == IsCandidate {
		s.enqueue(is)
	}
	s.setStanding(is)
	changed := was == nil || was.pod.UID != pod.UID || was.verdict != is.verdict
	if is.verdict.Kind == Rejected && changed {
		s.reportChanged(is)
	}
}

// forget drops a pod that is gone from the store.
func (s *step) forget(was *standing) {
	if was.verdict.Kind == IsCandidate {
		s.release(was, CauseDeleted)
	}
	s.standings = s.standings.Delete(was.pod.Key)
	s.unsettled = s.unsettled.Delete(was.pod.Key)
}

// setStanding stores where a pod stands and keeps the index of unsettled pods.
func (s *step) setStanding(is *standing) {
	key := is.pod.Key
	s.standings = s.standings.Set(key, is)
	switch indexed := s.unsettled.Has(key); {
	case is.settled() && indexed:
		s.unsettled = s.unsettled.Delete(key)
	case !is.settled() && !indexed:
		s.unsettled = s.unsettled.Set(key, key)
	}
}

// release ends everything a candidate has reached or is waiting for; a published endpoint is
// retired in this very step (R14), an unpublished one silently (R15).
func (s *step) release(was *standing, cause Cause) {
	key := was.pod.Key
	s.stopRetryTimer(was.timer)
	s.dequeue(was)
	s.cancelProbe(was)
	if was.member == nil {
		return
	}
	s.admitted = s.admitted.Delete(key)
	if s.unpublished.Has(key) {
		s.unpublished = s.unpublished.Delete(key)
		return
	}
	s.terminated = append(s.terminated,
		Publish{HAProxyPodTerminated{Identity: was.identity, Cause: cause}})
	s.removed = append(s.removed, key)
}

// terminationCause is the first cause that fits (R14), for a pod that is still there.
func (s *step) terminationCause(was, is *standing) Cause {
	port := s.settings.validated.AgentPort
	switch {
	case is.pod.UID != was.pod.UID:
		return CauseReplaced
	case is.verdict.Kind == Ignored:
		return is.verdict.Cause
	case is.verdict.Reason == ReasonMalformedPod:
		return CauseMalformed
	case is.verdict.Reason == ReasonAgentContainerNotRunning:
		return CauseAgentNotRunning
	case was.identity.URL != agentURL(s.config.AgentScheme, was.pod.IP, port):
		return CausePortChanged
	case is.pod.IP != was.pod.IP:
		return CauseAddressChanged
	default:
		return CauseContainerRestarted
	}
}
