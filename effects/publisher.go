package effects

import (
	"slices"
	"sync"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// Delivery is an event, and the time at which the input that led to it was taken up.
type Delivery struct {
	Time  time.Time
	Event core.Event
}

// Publisher hands events to subscribers, to each at its own pace (R30): a subscriber that reads
// slowly, or has stopped reading, costs the others nothing. Safe for concurrent use; no method
// waits for a subscriber, and there is no goroutine behind it.
type Publisher struct {
	// mu is taken before a subscription's.
	mu            sync.Mutex
	subscriptions []*Subscription
	// dropped are those that lagged too far and have not noticed.
	dropped []*Subscription
	closed  bool
}

// NewPublisher makes a publisher without subscribers.
func NewPublisher() *Publisher { return &Publisher{} }

// Subscribe gives a subscription to the events from now on; after Close, one that has ended. The
// name is for logs and metrics and need not be unique.
func (p *Publisher) Subscribe(name string) *Subscription {
	s := &Subscription{publisher: p, name: name, wake: make(chan struct{}, 1)}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		s.end(ErrClosed)
	} else {
		p.subscriptions = append(p.subscriptions, s)
	}
	return s
}

// Publish hands an event to every subscriber, in constant time for each, and returns those that it
// has dropped because they lag too far behind (R30). The order of the calls is the order of the
// events. After Close it does nothing.
func (p *Publisher) Publish(at time.Time, event core.Event) (dropped []*Subscription) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.subscriptions = slices.DeleteFunc(p.subscriptions, func(s *Subscription) bool {
		if s.put(at, event) {
			return false
		}
		dropped = append(dropped, s)
		return true
	})
	p.dropped = append(p.dropped, dropped...)
	return dropped
}

// Deaf lists the subscriptions that were dropped, while their subscribers have neither read the
// error nor closed them: nobody there knows that events are missing.
func (p *Publisher) Deaf() []*Subscription {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.dropped)
}

// Subscriptions lists those that were neither closed nor dropped, in the order of their creation.
func (p *Publisher) Subscriptions() []*Subscription {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.subscriptions)
}

// Close ends the publication. Subscribers can still read what waits for them, then they get
// ErrClosed.
func (p *Publisher) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, s := range p.subscriptions {
		s.end(ErrClosed)
	}
	p.subscriptions = nil
}

func (p *Publisher) forget(gone *Subscription) {
	p.mu.Lock()
	defer p.mu.Unlock()
	isGone := func(s *Subscription) bool { return s == gone }
	p.subscriptions = slices.DeleteFunc(p.subscriptions, isGone)
	p.dropped = slices.DeleteFunc(p.dropped, isGone)
}
