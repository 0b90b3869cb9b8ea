package intake

import "github.com/haproxy-discovery/haproxy-discovery/core"

// Ask is something that makes a look at the pod store necessary, or what came of one. The set is
// closed.
type Ask interface{ isAsk() }

// StoreSet tells that there is a pod store, or another one. The stores are numbered, from 1.
type StoreSet struct{}

// PodsNamed tells that these pods may have changed, come or gone; without keys, that any may have.
type PodsNamed struct{ Keys []core.PodKey }

// SyncComplete tells that the pod store has done its initial sync.
type SyncComplete struct{}

// DriftTick asks for a complete re-read.
type DriftTick struct{}

// RetryFired tells that the timer of a StartRetry has run out.
type RetryFired struct{}

// ListRead answers a ReadList: the pods in the order of their keys, each key once, and what the
// store said of its sync before they were read.
type ListRead struct {
	Store  uint64
	Synced core.Sync
	Pods   []*core.Pod
	// Failed reports that the store could not be read; then the rest says nothing.
	Failed bool
}

// PodsRead answers a ReadPods, with a PodRead for each of its keys in the same order.
type PodsRead struct {
	Store uint64
	Pods  []PodRead
}

// PodRead is what came of reading one pod: its facts, or nil if the store has no such pod.
type PodRead struct {
	Key core.PodKey
	Pod *core.Pod
	// Failed reports that the store could not be asked; then Pod says nothing.
	Failed bool
}

func (StoreSet) isAsk()     {}
func (PodsNamed) isAsk()    {}
func (SyncComplete) isAsk() {}
func (DriftTick) isAsk()    {}
func (RetryFired) isAsk()   {}
func (ListRead) isAsk()     {}
func (PodsRead) isAsk()     {}
