package oracle

import (
	"slices"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// report lists the pods that are rejected by their facts and have to be told: all of them in a full
// pass (R7), those with another UID, reason or cause than before in a pod change (R8).
func (o *Oracle) report(in meaning) {
	for i := range o.now {
		is := &o.now[i]
		if is.verdict.Kind != core.Rejected {
			continue
		}
		was := find(o.was, is.pod.Key)
		if slices.Contains(in.deleted, is.pod.Key) {
			was = nil
		}
		news := was == nil || was.pod.UID != is.pod.UID || was.verdict != is.verdict
		if in.fullPass || in.podChange && news {
			o.expected.rejected = append(o.expected.rejected, core.HAProxyPodRejected{
				Namespace: is.pod.Key.Namespace,
				Name:      is.pod.Key.Name,
				UID:       is.pod.UID,
				Reason:    is.verdict.Reason,
				Cause:     is.verdict.Cause,
				Detail:    detailOf(is.pod, is.verdict.Cause),
			})
		}
	}
}

// detailOf: a pod without an agent says which containers it has, a malformed one what is wrong.
func detailOf(pod *core.Pod, cause core.Cause) string {
	if cause == "malformed" {
		return pod.Malformed
	}
	return pod.NoAgent
}

// reportFailure tells that a candidate's agent has failed (R23). When it is asked again is core's
// choice within bounds, compared with the timer started.
func (o *Oracle) reportFailure(c *candidacy, failure core.Failure) {
	if failure.Cause == "" {
		failure.Cause = "other"
	}
	o.expected.rejected = append(o.expected.rejected, core.HAProxyPodRejected{
		Namespace: c.identity.Namespace,
		Name:      c.identity.Name,
		UID:       c.identity.UID,
		Reason:    "agent_unreachable",
		Cause:     failure.Cause,
		Detail:    failure.Detail,
		Attempt:   c.attempts(o.lastReset),
	})
}
