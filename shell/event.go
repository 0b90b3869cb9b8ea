package shell

import "github.com/haproxy-discovery/haproxy-discovery/core"

// The events that HandleEvent and the bus take in. Beside these, core.ConfigValidated,
// core.CredentialsUpdated and core.BecameLeader are taken as they are. Core's inputs of the same names
// as these are a problem: what they say of pods is not taken from an event. Any other type is one if
// it comes by HandleEvent, and somebody else's business if it comes over the bus.

// ResourceIndexUpdated names pods that may have changed, been added or been deleted. It carries no
// object: the component reads the facts from the pod store when it gets to them, because the store
// may already know better than the event did (R9). Without keys, it tells that any pod may have
// changed: the whole store is read and compared. Resource other than core.HAProxyPods is reported
// once if it comes by HandleEvent, and ignored.
type ResourceIndexUpdated struct {
	Resource string
	Keys     []core.PodKey
}

// ResourceSyncComplete tells that the pod store has done its initial sync.
type ResourceSyncComplete struct{ Resource string }

// DriftPreventionTriggered asks for a complete re-read of the pod store, beside the regular ones.
type DriftPreventionTriggered struct{}

// Bus is where an embedding program's events come from and where discovery's go to.
type Bus interface {
	// Subscribe is called once, by New, and must call handle for each event from then on, from
	// any goroutine; handle never blocks. It returns a function that ends the subscription.
	Subscribe(name string, handle func(event any)) (unsubscribe func())
	// Publish hands out one event. The component calls it from one goroutine of its own, in order;
	// it may block without holding up anything but itself, until the component stops. If 10,000
	// terminations wait for it, Start returns ErrBusLagging (R30); after a panic, ErrBusPanicked.
	Publish(event core.Event)
}
