package projection

import "github.com/haproxy-discovery/haproxy-discovery/core"

// Status says in one word where a pod stands: the words that people see everywhere, on the page, in
// metrics, replays and logs.
type Status string

// The statuses. Each pod has exactly one.
const (
	// Undecided is a pod taken in while config, credentials or the store's sync are missing.
	Undecided Status = "undecided"
	// Ignored is a pod left out silently (R1).
	Ignored Status = "ignored"
	// Candidate is a pod worth a probe whose first attempt has no verdict yet.
	Candidate Status = "candidate"
	// Rejected is a pod rejected by its facts (R2, R3), or a candidate whose agent has failed (R23).
	Rejected Status = "rejected"
	// Admitted is a candidate whose agent has answered (R5).
	Admitted Status = "admitted"
)

// Statuses lists them all, from the fleet outwards.
func Statuses() []Status { return []Status{Admitted, Candidate, Rejected, Ignored, Undecided} }

// StatusOf gives the status of a pod, and the reason of a rejected one.
func StatusOf(standing core.Standing) (Status, core.Reason) {
	switch standing.Verdict.Kind {
	case core.Ignored:
		return Ignored, ""
	case core.Rejected:
		return Rejected, standing.Verdict.Reason
	case core.IsCandidate:
		switch {
		case standing.Admitted:
			return Admitted, ""
		case standing.Retry:
			return Rejected, core.ReasonAgentUnreachable
		default:
			return Candidate, ""
		}
	default:
		return Undecided, ""
	}
}
