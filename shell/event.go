package shell

import (
	"fmt"
	"strings"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/core/intake"
)

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

// takeIn returns an error for an event that nothing is done with.
func (c *Component) takeIn(event any) error {
	switch e := event.(type) {
	case core.ConfigValidated:
		c.inbox.putInput(e)
	case core.CredentialsUpdated:
		c.inbox.putInput(e)
	case core.BecameLeader:
		c.inbox.putInput(e)
	case ResourceIndexUpdated:
		if e.Resource != core.HAProxyPods {
			return unknownResource(e.Resource)
		}
		c.inbox.ask(intake.PodsNamed{Keys: e.Keys})
	case ResourceSyncComplete:
		if e.Resource != core.HAProxyPods {
			return unknownResource(e.Resource)
		}
		c.inbox.ask(intake.SyncComplete{})
	case DriftPreventionTriggered:
		c.inbox.ask(intake.DriftTick{})
	case core.ResourceIndexUpdated, core.ResourceSyncComplete, core.DriftPreventionTriggered:
		return misusedInput{event}
	default:
		return fmt.Errorf("events of type %T are not taken in", event)
	}
	return nil
}

// misusedInput is an input whose facts would have to be read from the store: the event that names
// them has the same name in this package.
type misusedInput struct{ input any }

func (e misusedInput) Error() string {
	text := fmt.Sprintf("%T", e.input)
	return fmt.Sprintf("events of type %s are not taken in: give shell.%s, and the facts are read "+
		"from the pod store", text, strings.TrimPrefix(text, "core."))
}

// unknownResource is often a mistake for core.HAProxyPods.
type unknownResource string

func (e unknownResource) Error() string {
	return fmt.Sprintf("events of the resource %.64q are not taken in, only those of %q",
		string(e), core.HAProxyPods)
}

// maxUnknownResources bounds of how many resources a Component remembers that they were reported.
const maxUnknownResources = 16

// isNew reports whether a resource is told of for the first time.
func (c *Component) isNew(resource unknownResource) bool {
	name := fmt.Sprintf("%.64s", string(resource))
	c.unknownMu.Lock()
	defer c.unknownMu.Unlock()
	if c.unknown[name] || len(c.unknown) == maxUnknownResources {
		return false
	}
	c.unknown[name] = true
	return true
}
