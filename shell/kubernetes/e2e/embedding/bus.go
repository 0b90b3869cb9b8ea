package embedding

import (
	"slices"
	"sync"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// Bus hands each event to all subscribers, one after the other in the order in which they
// subscribed. It is safe for concurrent use.
type Bus struct {
	mu          sync.Mutex
	subscribers []*func(event any)
}

// NewBus makes one without subscribers.
func NewBus() *Bus { return &Bus{} }

// Subscribe takes part until unsubscribe. An event that is just being handed out may still come
// after that.
func (b *Bus) Subscribe(handle func(event any)) (unsubscribe func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.subscribers = append(b.subscribers, &handle)
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.subscribers = slices.DeleteFunc(slices.Clone(b.subscribers),
			func(other *func(event any)) bool { return other == &handle })
	}
}

// Send returns once all have handled the event.
func (b *Bus) Send(event any) {
	b.mu.Lock()
	subscribers := b.subscribers
	b.mu.Unlock()
	for _, handle := range subscribers {
		(*handle)(event)
	}
}

// port is the shell.Bus by which discovery takes part. It leaves alone what it does not know, its own
// events among it.
type port struct{ *Bus }

func (p port) Subscribe(_ string, handle func(event any)) (unsubscribe func()) {
	return p.Bus.Subscribe(handle)
}

func (p port) Publish(event core.Event) { p.Send(event) }
