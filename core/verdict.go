package core

import (
	"net/netip"

	"k8s.io/apimachinery/pkg/labels"
)

// Verdict says what a pod is to discovery, judged by its facts alone.
type Verdict struct {
	Kind VerdictKind
	// Reason is set for rejected pods.
	Reason Reason
	// Cause is set for ignored and rejected pods; for ignored ones it is what a termination says.
	Cause Cause
}

// VerdictKind is the verdict without its reason.
type VerdictKind uint8

// The kinds of verdicts. Undecided, the zero value, is a pod taken in before the gate opened.
const (
	Undecided VerdictKind = iota
	Ignored
	Rejected
	IsCandidate
)

// String names the kind as the documentation does.
func (k VerdictKind) String() string {
	return [...]string{"undecided", "ignored", "rejected", "candidate"}[k%4]
}

// settings is a ConfigValidated that was found valid, with its selector parsed.
type settings struct {
	validated ConfigValidated
	selector  labels.Selector
}

// judge gives a pod's verdict: R1 as far as its facts can be read, then R3, then R2, else it is a
// candidate (R5). Neither readiness nor anything else of the pod is asked (R4).
func (c *settings) judge(pod *Pod) Verdict {
	switch {
	case pod.Terminating:
		return Verdict{Kind: Ignored, Cause: CauseTerminating}
	case pod.Phase != PhaseRunning && !pod.Unreadable.Has(FactPhase):
		return Verdict{Kind: Ignored, Cause: CauseNotRunning}
	case !pod.Unreadable.Has(FactLabels) && !c.selector.Matches(labels.Set(pod.Labels)):
		return Verdict{Kind: Ignored, Cause: CauseDeselected}
	case !pod.IP.IsValid() && !pod.Unreadable.Has(FactIP):
		return Verdict{Kind: Ignored, Cause: CauseNoIP}
	case pod.Malformed != "" || !isPodIP(pod.IP):
		return Verdict{Kind: Rejected, Reason: ReasonMalformedPod, Cause: CauseMalformed}
	}
	switch pod.Agent {
	case AgentRunning:
		return Verdict{Kind: IsCandidate}
	case AgentWaiting, AgentTerminated:
		return Verdict{Rejected, ReasonAgentContainerNotRunning, Cause(pod.Agent)}
	default:
		return Verdict{Rejected, ReasonAgentContainerNotRunning, CauseMissing}
	}
}

// isPodIP refuses what no agent can be reached at: no address, one with a zone, the unspecified one.
func isPodIP(ip netip.Addr) bool {
	return ip.IsValid() && ip.Zone() == "" && !ip.IsUnspecified()
}
