package shell

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/effects"
	"github.com/haproxy-discovery/haproxy-discovery/shell/internal/loopback"
)

// testBus is an in-process bus whose consumer may block.
type testBus struct {
	mu     sync.Mutex
	handle func(any)
	gate   chan struct{}
	got    chan core.Event
}

func newTestBus() *testBus {
	return &testBus{gate: make(chan struct{}), got: make(chan core.Event, 1000)}
}

func (b *testBus) Subscribe(name string, handle func(any)) func() {
	if name != ComponentName {
		panic("subscribed as " + name)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.handle = handle
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.handle = nil
	}
}

func (b *testBus) Publish(event core.Event) {
	<-b.gate
	b.got <- event
}

func (b *testBus) send(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.handle != nil {
		b.handle(event)
	}
}

// Nothing that was published after New is missed, and a bus that blocks holds up only itself.
func TestBusIsSubscribedInTheConstructorAndMayBlock(t *testing.T) {
	agents := loopback.NewAgents(t)
	agents.Start("127.77.0.1", loopback.Healthy("3.4.3"))
	bus := newTestBus()
	r := newRunning(t, New(bus, nil))
	credentials, _ := core.NewCredentials("admin", "pass-word-1")
	bus.send(core.ConfigValidated{AgentPort: agents.Port})
	bus.send(core.CredentialsUpdated{Credentials: credentials})
	r.SetPodStore(newTestStore(loopback.Pod("hap-0", "u0", "127.77.0.1")))
	r.begin()
	r.awaitFleet("u0") // while the bus still blocks

	close(bus.gate)
	select {
	case event := <-bus.got:
		if discovered, is := event.(core.HAProxyPodsDiscovered); !is || discovered.Generation != 1 {
			t.Errorf("the bus got %v", event)
		}
	case <-time.After(patience):
		t.Fatal("the bus got nothing")
	}
	if err, took := r.stop(); err != nil || took > time.Second {
		t.Errorf("Start: %v after %v", err, took)
	}
	if bus.handle != nil {
		t.Error("still subscribed")
	}
}

// On a bus of many, what discovery does not know is somebody else's, and its own events come back.
func TestForeignEventsOnTheBusAreNoProblem(t *testing.T) {
	bus, told := newTestBus(), &problemLog{}
	close(bus.gate)
	r := newRunning(t, New(bus, nil, WithObserver(told)))
	configure(r.Component, 5555)
	r.begin()
	for _, event := range []any{"foreign", nil, core.HAProxyPodTerminated{}, 42} {
		bus.send(event)
	}
	bus.send(ResourceSyncComplete{Resource: core.HAProxyPods})
	r.SetPodStore(newTestStore())
	bus.send(DriftPreventionTriggered{})
	r.awaitFleet()
	if n := told.count(UnknownEvent); n != 0 {
		t.Errorf("%d problems", n)
	}
}

// A bus that takes nothing ends the component in the end (R30): it would be deaf and look healthy.
func TestBusThatLagsTooFarEndsTheComponent(t *testing.T) {
	bus, told := newTestBus(), &problemLog{}
	defer close(bus.gate)
	c := New(bus, nil, WithObserver(told), terminating(10_002)) // no other subscriber is there to lag
	c.HandleEvent(core.BecameLeader{})
	ended := make(chan error, 1)
	go func() { ended <- c.Start(t.Context()) }()
	told.await(t, SubscriberDropped) // though the bus never comes back from the first event
	select {
	case err := <-ended:
		if !errors.Is(err, ErrBusLagging) || !errors.Is(err, effects.ErrLagging) {
			t.Errorf("Start: %v", err)
		}
	case <-time.After(patience):
		t.Fatal("deaf, and goes on")
	}
	if told.count(SubscriberDropped) != 1 {
		t.Errorf("told %d times", told.count(SubscriberDropped))
	}
}

// terminating has a step publish so many terminations, whatever its input.
func terminating(n int) Option {
	return func(o *options) {
		o.reduce = func(state core.State, _ core.Input) (core.State, []core.Effect) {
			return state, slices.Repeat([]core.Effect{core.Publish{Event: core.HAProxyPodTerminated{}}}, n)
		}
	}
}
