package core

import "time"

// Event is what subscribers learn. Plain data; the set is closed.
type Event interface{ isEvent() }

// HAProxyPodsDiscovered is the complete fleet, newest credentials included. Consumers may rely on
// the Fleet alone; the lists tell what is new since the publication before.
type HAProxyPodsDiscovered struct {
	Fleet Fleet
	// Generation grows by one with each publication that is no replay.
	Generation uint64
	// Trigger is the snake_case name of the step's input.
	Trigger Trigger
	// Replay marks the last publication, told again to the consumers of a new leader.
	Replay bool
	// Added are the endpoints of an identity that the publication before did not hold.
	Added []PodKey
	// Updated are the endpoints with the same identity and another version.
	Updated []PodKey
	// Removed are the endpoints of the publication before whose identity is gone.
	Removed []PodKey
	// CredentialsChanged tells that the fleet's credentials differ from the publication before.
	CredentialsChanged bool
}

// HAProxyPodTerminated retires a published endpoint: nobody may talk to this identity any more.
// Told exactly once, before the next HAProxyPodsDiscovered.
type HAProxyPodTerminated struct {
	Identity
	Cause Cause
}

// HAProxyPodRejected tells why a pod is not (yet) in the fleet.
type HAProxyPodRejected struct {
	Namespace string
	Name      string
	UID       string
	Reason    Reason
	Cause     Cause
	Detail    string
	// Attempt counts the failed probes since the pod became a candidate or the back-off was
	// reset; 0 where the pod was not probed.
	Attempt int
	// RetryIn is the time until the next probe; 0 where none is planned.
	RetryIn time.Duration
}

// Key is the pod's key.
func (e HAProxyPodRejected) Key() PodKey { return PodKey{Namespace: e.Namespace, Name: e.Name} }

func (HAProxyPodsDiscovered) isEvent() {}
func (HAProxyPodTerminated) isEvent()  {}
func (HAProxyPodRejected) isEvent()    {}

// Trigger names the input that led to a publication.
type Trigger string

// The triggers, one for each kind of input that can publish.
const (
	TriggerConfigValidated          Trigger = "config_validated"
	TriggerCredentialsUpdated       Trigger = "credentials_updated"
	TriggerPodStoreSet              Trigger = "pod_store_set"
	TriggerResourceIndexUpdated     Trigger = "resource_index_updated"
	TriggerResourceSyncComplete     Trigger = "resource_sync_complete"
	TriggerBecameLeader             Trigger = "became_leader"
	TriggerDriftPreventionTriggered Trigger = "drift_prevention_triggered"
	TriggerProbeFinished            Trigger = "probe_finished"
	TriggerTimerFired               Trigger = "timer_fired"
)

// TriggerOf names an input as publications do; empty for one that is none.
func TriggerOf(input Input) Trigger {
	switch input.(type) {
	case ConfigValidated:
		return TriggerConfigValidated
	case CredentialsUpdated:
		return TriggerCredentialsUpdated
	case PodStoreSet:
		return TriggerPodStoreSet
	case ResourceIndexUpdated:
		return TriggerResourceIndexUpdated
	case ResourceSyncComplete:
		return TriggerResourceSyncComplete
	case BecameLeader:
		return TriggerBecameLeader
	case DriftPreventionTriggered:
		return TriggerDriftPreventionTriggered
	case ProbeFinished:
		return TriggerProbeFinished
	case TimerFired:
		return TriggerTimerFired
	default:
		return ""
	}
}

// Reason says by which rule a pod was rejected.
type Reason string

// The reasons of HAProxyPodRejected.
const (
	ReasonAgentContainerNotRunning Reason = "agent_container_not_running" // R2
	ReasonMalformedPod             Reason = "malformed_pod"               // R3
	ReasonAgentUnreachable         Reason = "agent_unreachable"           // R23
)

// Cause says more exactly why a pod was rejected or an endpoint terminated.
type Cause string

// The causes of a rejection: of R2, of R3, and of a failed probe (R23).
const (
	CauseWaiting    Cause = "waiting"
	CauseTerminated Cause = "terminated"
	CauseMissing    Cause = "missing"

	CauseRefused               Cause = "refused"
	CauseTimeout               Cause = "timeout"
	CauseTLS                   Cause = "tls"
	CauseUnauthorized          Cause = "unauthorized"
	CauseUnexpectedStatus      Cause = "unexpected_status"
	CauseTooLarge              Cause = "too_large"
	CauseTruncated             Cause = "truncated"
	CauseInvalidDocument       Cause = "invalid_document"
	CauseUnsupportedAPIVersion Cause = "unsupported_api_version"
	CauseOther                 Cause = "other"
)

// The causes of a termination, in the order in which they are tried (R14). CauseMalformed is a
// rejection's cause too.
const (
	CauseDeleted            Cause = "deleted"
	CauseReplaced           Cause = "replaced"
	CauseTerminating        Cause = "terminating"
	CauseNotRunning         Cause = "not_running"
	CauseDeselected         Cause = "deselected"
	CauseNoIP               Cause = "no_ip"
	CauseMalformed          Cause = "malformed"
	CauseAgentNotRunning    Cause = "agent_not_running"
	CausePortChanged        Cause = "port_changed"
	CauseAddressChanged     Cause = "address_changed"
	CauseContainerRestarted Cause = "container_restarted"
)
