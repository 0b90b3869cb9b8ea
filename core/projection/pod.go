package projection

import (
	"cmp"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// Pod is what people are told of one pod beside its core.Standing.
type Pod struct {
	Status Status
	// Reason is set for rejected pods, Cause for rejected and ignored ones; Detail is for people.
	Reason core.Reason
	Cause  core.Cause
	Detail string
	// Since is when this incarnation of the pod came to its Status and Reason.
	Since time.Time
	// UnadmittedSince is when a candidate whose agent has not answered yet became one; zero for
	// all other pods.
	UnadmittedSince time.Time
	// RetryAt is when the agent is asked next; zero where no time is set: it is not asked, waits
	// for a place, or is being asked.
	RetryAt time.Time

	uid      string
	identity core.Identity
	timer    core.TimerID
}

// podAfter gives what is told of a pod after a step that has touched it, given what was told before.
func podAfter(standing core.Standing, was Pod, step core.Step, at time.Time) Pod {
	is := Pod{
		Since: at, uid: standing.Pod.UID, identity: standing.Identity, timer: standing.RetryTimer,
		Cause: standing.Verdict.Cause,
	}
	is.Status, is.Reason = StatusOf(standing)
	if standing.Verdict.Kind == core.Rejected {
		is.Detail = standing.Pod.Detail(standing.Verdict.Reason)
	}
	same := is.uid == was.uid && is.identity == was.identity
	if is.Reason == core.ReasonAgentUnreachable {
		is.Cause, is.Detail = lastFailure(standing.Pod.Key, same, was, step)
	}
	if same && is.Status == was.Status && is.Reason == was.Reason {
		is.Since = was.Since
	}
	if standing.Verdict.Kind == core.IsCandidate && !standing.Admitted {
		is.UnadmittedSince = at
		if same && !was.UnadmittedSince.IsZero() {
			is.UnadmittedSince = was.UnadmittedSince
		}
	}
	is.RetryAt = retryAt(is.timer, was, step, at)
	return is
}

// lastFailure is told by the step that reports it; the state keeps only that there was one.
func lastFailure(
	key core.PodKey, same bool, was Pod, step core.Step,
) (cause core.Cause, detail string) {
	if same {
		cause, detail = was.Cause, was.Detail
	}
	for _, effect := range step.Effects {
		publish, _ := effect.(core.Publish)
		rejected, is := publish.Event.(core.HAProxyPodRejected)
		if is && rejected.Key() == key {
			cause, detail = rejected.Cause, rejected.Detail
		}
	}
	return cmp.Or(cause, core.CauseOther), detail
}

// retryAt is when a timer fires: it was armed in this step, or before.
func retryAt(timer core.TimerID, was Pod, step core.Step, at time.Time) time.Time {
	switch timer {
	case 0:
		return time.Time{}
	case was.timer:
		return was.RetryAt
	}
	for _, effect := range step.Effects {
		if start, is := effect.(core.StartTimer); is && start.Timer == timer {
			return at.Add(start.After)
		}
	}
	return time.Time{}
}
