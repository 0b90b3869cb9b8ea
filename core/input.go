package core

// Input is something that happened: the only thing that changes a State. One struct of plain data
// for each kind; the set is closed.
type Input interface{ isInput() }

// HAProxyPods is the resource type of the pods that discovery follows; index and sync inputs of
// any other are refused.
const HAProxyPods = "haproxy-pods"

// ConfigValidated carries the newest valid configuration.
type ConfigValidated struct {
	// AgentPort is the port of all agents, 1 to 65535.
	AgentPort int
	// PodSelector is a label selector in kubectl's syntax; empty selects every pod.
	PodSelector string
}

// CredentialsUpdated carries the newest credentials.
type CredentialsUpdated struct{ Credentials Credentials }

// Sync tells whether a pod store has done its initial sync.
type Sync uint8

// What a store says of its initial sync. SyncUnknown, the zero value, is a store that cannot say;
// the first store counts as synced once any ResourceSyncComplete was seen, before it or after it, a
// later one only once its own was, after it was set (R6).
const (
	SyncUnknown Sync = iota
	SyncDone
	SyncPending
)

// PodStoreSet tells that there is a (new) pod store, and what it holds.
type PodStoreSet struct {
	Pods   []*Pod
	Synced Sync
}

// ResourceIndexUpdated tells how some pods of the store have changed. Deleted applies before
// Upserted; a Deleted entry of another UID than the stored pod's is ignored; of two entries with
// the same key in one list, the last one counts (R9).
type ResourceIndexUpdated struct {
	Resource string
	Upserted []*Pod
	Deleted  []PodRef
}

// ResourceSyncComplete tells that the store has done its initial sync, and what it holds.
type ResourceSyncComplete struct {
	Resource string
	Pods     []*Pod
}

// BecameLeader tells that this replica leads now: its consumers need the last publication again.
type BecameLeader struct{}

// DriftPreventionTriggered carries a complete re-read of the store.
type DriftPreventionTriggered struct{ Pods []*Pod }

// ProbeFinished frees the place of a probe, whether it was cancelled or not.
type ProbeFinished struct {
	Probe   ProbeID
	Outcome Outcome
}

// TimerFired tells that a timer has run out.
type TimerFired struct{ Timer TimerID }

// Outcome is what became of a probe: an Answer or a Failure.
type Outcome interface{ isOutcome() }

// Answer is an agent's valid document, as far as discovery needs it. Both texts are empty while the
// agent does not know its HAProxy yet.
type Answer struct {
	Version     string
	FullVersion string
}

// HAProxy is the version that the answer tells: Version, else FullVersion, else unknown.
func (a Answer) HAProxy() Version {
	if a.Version != "" {
		return ParseVersion(a.Version)
	}
	return ParseVersion(a.FullVersion)
}

// Failure says why a probe has failed. Detail is for people; it never quotes what an agent sent.
type Failure struct {
	Cause  Cause
	Detail string
}

func (Answer) isOutcome()  {}
func (Failure) isOutcome() {}

func (ConfigValidated) isInput()          {}
func (CredentialsUpdated) isInput()       {}
func (PodStoreSet) isInput()              {}
func (ResourceIndexUpdated) isInput()     {}
func (ResourceSyncComplete) isInput()     {}
func (BecameLeader) isInput()             {}
func (DriftPreventionTriggered) isInput() {}
func (ProbeFinished) isInput()            {}
func (TimerFired) isInput()               {}
