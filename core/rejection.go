package core

import "time"

// reportRejected tells that a pod is rejected by R2 or R3.
func (s *step) reportRejected(st *standing) {
	s.rejected = append(s.rejected, Publish{HAProxyPodRejected{
		Namespace: st.pod.Key.Namespace,
		Name:      st.pod.Key.Name,
		UID:       st.pod.UID,
		Reason:    st.verdict.Reason,
		Cause:     st.verdict.Cause,
		Detail:    st.pod.Detail(st.verdict.Reason),
	}})
}

// reportChanged is reportRejected for a change of the pod (R8); full passes report every rejected
// pod anyway.
func (s *step) reportChanged(st *standing) {
	if s.trigger == TriggerResourceIndexUpdated {
		s.reportRejected(st)
	}
}

// reportFailed tells that a candidate's agent did not answer (R23).
func (s *step) reportFailed(st *standing, failure Failure, retryIn time.Duration) {
	s.rejected = append(s.rejected, Publish{HAProxyPodRejected{
		Namespace: st.pod.Key.Namespace,
		Name:      st.pod.Key.Name,
		UID:       st.pod.UID,
		Reason:    ReasonAgentUnreachable,
		Cause:     failure.Cause,
		Detail:    failure.Detail,
		Attempt:   st.attempts,
		RetryIn:   retryIn,
	}})
}
