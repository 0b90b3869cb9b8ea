package effects

import (
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// maxTerminated is how many terminations a subscriber may leave unread; one more, and it is dropped
// (R30).
const maxTerminated = 10_000

// outbox holds what one subscriber has not received yet (R30), in order of arrival: all the
// terminations, the newest rejection of each pod, the newest Discovered. What replaces something
// takes a new place at the end, so that a Discovered is never ahead of a termination that was told
// before it. Every operation takes constant time. The zero value is empty.
type outbox struct {
	arrivals   uint64
	terminated []*parcel
	rejected   rejections
	discovered *parcel
}

// parcel is one event in an outbox.
type parcel struct {
	Delivery
	// place orders the parcels of an outbox.
	place uint64
	// credentialsChanged is set if this Discovered, or one that it replaced, told so.
	credentialsChanged bool
}

// put is false when the subscriber has too many terminations to read.
func (o *outbox) put(at time.Time, event core.Event) bool {
	o.arrivals++
	next := &parcel{Delivery: Delivery{Time: at, Event: event}, place: o.arrivals}
	switch e := event.(type) {
	case core.HAProxyPodTerminated:
		o.terminated = append(o.terminated, next)
	case core.HAProxyPodRejected:
		o.rejected.put(e.Key(), next)
	case core.HAProxyPodsDiscovered:
		skipped := o.discovered
		next.credentialsChanged = e.CredentialsChanged || skipped != nil && skipped.credentialsChanged
		o.discovered = next
	}
	return len(o.terminated) <= maxTerminated
}

// take removes the oldest parcel; nil if there is none.
func (o *outbox) take() *parcel {
	var oldestTermination *parcel
	if len(o.terminated) > 0 {
		oldestTermination = o.terminated[0]
	}
	next := older(older(oldestTermination, o.rejected.oldest()), o.discovered)
	switch {
	case next == nil:
	case next == oldestTermination:
		o.terminated[0] = nil // the array behind the slice must not keep it
		o.terminated = o.terminated[1:]
	case next == o.discovered:
		o.discovered = nil
	default:
		o.rejected.removeOldest()
	}
	return next
}

func older(a, b *parcel) *parcel {
	if a == nil || b != nil && b.place < a.place {
		return b
	}
	return a
}

func (o *outbox) len() int {
	waiting := len(o.terminated) + o.rejected.len()
	if o.discovered != nil {
		waiting++
	}
	return waiting
}
