package core

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"strings"
)

// PodKey names a pod: namespace and name. Wherever pods are listed, they are ordered by namespace,
// then by name.
type PodKey struct {
	Namespace string
	Name      string
}

// String gives the key as namespace/name.
func (k PodKey) String() string { return k.Namespace + "/" + k.Name }

// Compare orders keys by namespace, then by name: negative, zero or positive as in cmp.Compare.
func (k PodKey) Compare(other PodKey) int {
	return cmp.Or(cmp.Compare(k.Namespace, other.Namespace), cmp.Compare(k.Name, other.Name))
}

// maxNameLength bounds namespace and name, in bytes: no API server takes longer ones, and the map of
// pods could not hold any length (R3).
const maxNameLength = 253

// tooLong names the part that no pod's key can have, with its length; empty if there is none.
func (k PodKey) tooLong() string {
	switch {
	case len(k.Namespace) > maxNameLength:
		return fmt.Sprintf("a namespace of %d bytes", len(k.Namespace))
	case len(k.Name) > maxNameLength:
		return fmt.Sprintf("a name of %d bytes", len(k.Name))
	}
	return ""
}

// ParsePodKey reads namespace/name; both parts are required.
func ParsePodKey(text string) (PodKey, error) {
	namespace, name, found := strings.Cut(text, "/")
	if !found || namespace == "" || name == "" || strings.Contains(name, "/") {
		return PodKey{}, fmt.Errorf("%q is not of the form namespace/name", text)
	}
	return PodKey{Namespace: namespace, Name: name}, nil
}

// Pod holds the facts that discovery knows of a pod; nothing else of a pod ever reaches the
// reducer or the input log. A Pod is immutable once it was handed over: states, inputs and logs
// share it.
type Pod struct {
	Key    PodKey
	UID    string
	Labels map[string]string
	// IP is status.podIP; not valid while the pod has none.
	IP netip.Addr
	// Phase is status.phase as written.
	Phase string
	// Terminating tells that metadata.deletionTimestamp is set, whatever its value.
	Terminating bool
	// Agent is the state of the agent container.
	Agent AgentState
	// NoAgent says for people, of a running pod without an agent container, which name was looked for
	// and which containers there are; empty for all others.
	NoAgent string
	// RuntimeID is the container execution epoch.
	RuntimeID RuntimeID
	// Malformed says which fact could not be read and why; empty for a well-formed pod.
	Malformed string
	// Unreadable are the facts of a malformed pod that say nothing, since they could not be read.
	Unreadable Facts
}

// Facts is a set of those facts of a pod that rule R1 asks and that may be unreadable.
type Facts uint8

// The facts that rule R1 asks.
const (
	FactPhase Facts = 1 << iota
	FactLabels
	FactIP
)

// Has tells whether the set holds the fact.
func (f Facts) Has(fact Facts) bool { return f&fact != 0 }

// PhaseRunning is the only phase in which a pod can be a candidate.
const PhaseRunning = "Running"

// AgentState is the state of the agent container, as the kubelet reports it.
type AgentState string

// The states of an agent container. AgentMissing is the zero value: the pod has no such container.
const (
	AgentMissing    AgentState = ""
	AgentRunning    AgentState = "running"
	AgentWaiting    AgentState = "waiting"
	AgentTerminated AgentState = "terminated"
)

// PodRef names one incarnation of a pod.
type PodRef struct {
	Key PodKey
	UID string
}

// Detail says for people why the facts reject the pod with the reason given; empty where there is no
// more to say.
func (p *Pod) Detail(reason Reason) string {
	switch reason {
	case ReasonMalformedPod:
		return p.Malformed
	case ReasonAgentContainerNotRunning:
		return p.NoAgent
	default:
		return ""
	}
}

// Equal tells whether both hold the same facts. It does not allocate.
func (p *Pod) Equal(other *Pod) bool {
	if p == other {
		return true
	}
	return p.Key == other.Key && p.UID == other.UID && p.IP == other.IP && p.Phase == other.Phase &&
		p.Terminating == other.Terminating && p.Agent == other.Agent &&
		p.NoAgent == other.NoAgent && p.RuntimeID == other.RuntimeID && p.Malformed == other.Malformed &&
		p.Unreadable == other.Unreadable && maps.Equal(p.Labels, other.Labels)
}
