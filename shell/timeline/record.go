package timeline

import (
	"cmp"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell"
)

// Status is where a pod stands, in one word: its verdict, with candidates told apart by what their
// agents have answered.
type Status string

// The statuses. A candidate whose agent has failed is rejected, like a pod that is rejected by its
// facts; Candidate is one that waits for the verdict of its first probe. Undecided are the pods
// while config, credentials or the store's sync are missing.
const (
	Undecided Status = "undecided"
	Ignored   Status = "ignored"
	Candidate Status = "candidate"
	Rejected  Status = "rejected"
	Admitted  Status = "admitted"
)

// Record is what is remembered of one pod beside its core.Standing.
type Record struct {
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

	uid      string
	identity core.Identity
}

// updateAll is for steps that may have changed any pod.
func (m *Moment) updateAll(step shell.Step) {
	for _, key := range step.After.Changed(step.Before) {
		m.update(key, step)
	}
}

func (m *Moment) update(key core.PodKey, step shell.Step) {
	standing, found := step.After.Standing(key)
	if !found {
		delete(m.records, key)
		return
	}
	was := m.records[key]
	is := Record{uid: standing.Pod.UID, identity: standing.Identity, Since: step.Time}
	switch standing.Verdict.Kind {
	case core.Undecided:
		is.Status = Undecided
	case core.Ignored:
		is.Status, is.Cause = Ignored, standing.Verdict.Cause
	case core.Rejected:
		is.Status, is.Detail = Rejected, standing.Pod.Detail(standing.Verdict.Reason)
		is.Reason, is.Cause = standing.Verdict.Reason, standing.Verdict.Cause
	case core.IsCandidate:
		is.judgeCandidate(standing, was, step)
	}
	same := is.uid == was.uid && is.identity == was.identity
	if same && is.Status == was.Status && is.Reason == was.Reason {
		is.Since = was.Since
	}
	if same && !is.UnadmittedSince.IsZero() && !was.UnadmittedSince.IsZero() {
		is.UnadmittedSince = was.UnadmittedSince
	}
	m.records[key] = is
}

// judgeCandidate knows a failure from the step that reports it; the state keeps only that there
// was one.
func (r *Record) judgeCandidate(standing core.Standing, was Record, step shell.Step) {
	if standing.Admitted {
		r.Status = Admitted
		return
	}
	r.UnadmittedSince = step.Time
	if !standing.Retry {
		r.Status = Candidate
		return
	}
	r.Status, r.Reason = Rejected, core.ReasonAgentUnreachable
	if was.identity == r.identity {
		r.Cause, r.Detail = was.Cause, was.Detail
	}
	for _, effect := range step.Effects {
		publish, _ := effect.(core.Publish)
		rejected, is := publish.Event.(core.HAProxyPodRejected)
		if is && rejected.Key() == standing.Pod.Key {
			r.Cause, r.Detail = rejected.Cause, rejected.Detail
		}
	}
	r.Cause = cmp.Or(r.Cause, core.CauseOther)
}
