package shell

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/core/intake"
	"github.com/haproxy-discovery/haproxy-discovery/effects"
)

// ComponentName is the name under which the component subscribes to the bus and logs.
const ComponentName = "discovery"

// shutdownLimit bounds how long Start waits for its goroutines once its context has ended.
const shutdownLimit = 500 * time.Millisecond

// ErrStarted is returned by a second Start.
var ErrStarted = errors.New("the component was started before")

// ErrNotRunning is returned by Ping before Start and after its end.
var ErrNotRunning = errors.New("the component is not running")

// ErrReducerPanicked is wrapped by Start's error after a bug in the reducer (R32): the component
// never goes on from a state nobody reduced.
var ErrReducerPanicked = errors.New("the reducer panicked")

// Component is discovery, ready to be embedded: it takes in events, reads pods, runs the reducer
// and performs its effects.
type Component struct {
	options
	logger      *slog.Logger
	bus         Bus
	unsubscribe func()

	inbox     *inbox
	publisher *effects.Publisher
	toBus     *effects.Subscription
	started   atomic.Bool
	// ended is closed when the loop has.
	ended chan struct{}
	state atomic.Pointer[core.State]
}

// New makes a component and subscribes it to the bus: nothing that is published from now on is
// missed, though it is handled only after Start. The bus may be nil: then HandleEvent and Subscribe
// are the ways in and out. The logger may be nil. Panics if an option is invalid.
func New(bus Bus, logger *slog.Logger, opts ...Option) *Component {
	c := &Component{
		options:   options{driftInterval: DefaultDriftInterval, reduce: core.Reduce},
		bus:       bus,
		inbox:     newInbox(),
		publisher: effects.NewPublisher(),
		ended:     make(chan struct{}),
	}
	for _, option := range opts {
		option(&c.options)
	}
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	c.logger = logger.With("component", ComponentName)
	if c.prober == nil {
		prober, err := effects.NewProber(effects.TLSFiles{})
		if err != nil {
			panic(fmt.Sprintf("shell.New: %v", err))
		}
		c.prober = prober
	}
	state := core.New(c.config)
	c.state.Store(&state)
	if bus != nil {
		c.toBus = c.publisher.Subscribe("bus")
		c.unsubscribe = bus.Subscribe(ComponentName, func(event any) { c.takeIn(event) })
	}
	return c
}

// Subscribe gives a subscription to the events from now on. Subscribe before Start to see them
// all. A subscriber that stops reading costs the others nothing (R30).
func (c *Component) Subscribe(name string) *effects.Subscription { return c.publisher.Subscribe(name) }

// SetPodStore sets or replaces the store that pods are read from. Safe at any time. A nil store is
// ignored: the last one stays.
func (c *Component) SetPodStore(store PodStore) {
	if store != nil {
		c.inbox.putStore(store)
	}
}

// State is the newest state; it stays valid for ever.
func (c *Component) State() core.State { return *c.state.Load() }

// HandleEvent takes in an event: core.ConfigValidated, core.CredentialsUpdated, core.BecameLeader,
// ResourceIndexUpdated, ResourceSyncComplete or DriftPreventionTriggered. Any other type is reported
// as a problem. It never blocks and is safe at any time, before Start too.
func (c *Component) HandleEvent(event any) {
	if !c.takeIn(event) {
		c.Report(Problem{UnknownEvent, fmt.Errorf("events of type %T are not taken in", event)})
	}
}

// takeIn is false for an event of a type that nothing is known of.
func (c *Component) takeIn(event any) bool {
	switch e := event.(type) {
	case core.ConfigValidated:
		c.inbox.putInput(e)
	case core.CredentialsUpdated:
		c.inbox.putInput(e)
	case core.BecameLeader:
		c.inbox.putInput(e)
	case ResourceIndexUpdated:
		if e.Resource == core.HAProxyPods {
			c.inbox.ask(intake.PodsNamed{Keys: e.Keys})
		}
	case ResourceSyncComplete:
		if e.Resource == core.HAProxyPods {
			c.inbox.ask(intake.SyncComplete{})
		}
	case DriftPreventionTriggered:
		c.inbox.ask(intake.DriftTick{})
	default:
		return false
	}
	return true
}

// Report tells the observers of a problem that an adapter has met: a source of pods or credentials
// that cannot be read, for instance. It never blocks and is safe at any time; after Start has
// returned it does nothing. Of equal problems that wait for the loop, one is told.
func (c *Component) Report(problem Problem) { c.inbox.putProblem(problem) }

// Ping returns once the loop has taken up all that was put into it before: nil means that it is
// alive. The error is ErrNotRunning before Start and after its end, or that of a context that has
// ended, because the loop is busy or hangs. It changes nothing.
func (c *Component) Ping(ctx context.Context) error {
	if !c.started.Load() {
		return ErrNotRunning
	}
	select {
	case <-c.inbox.putPing():
		return nil
	case <-c.ended:
		return ErrNotRunning
	case <-ctx.Done():
		return fmt.Errorf("the loop has not answered: %w", ctx.Err())
	}
}

// Subscriptions are those of now, the bus's own included; to see who lags behind.
func (c *Component) Subscriptions() []*effects.Subscription { return c.publisher.Subscriptions() }

// Start runs the component until ctx ends, and returns nil then: probes are cancelled, observers
// closed, all goroutines gone, within a second (R31). It returns an error when the reducer panics
// (ErrReducerPanicked), and on a second call (ErrStarted).
func (c *Component) Start(ctx context.Context) error {
	if !c.started.CompareAndSwap(false, true) {
		return ErrStarted
	}
	loop := newLoop(c)
	forwarded := c.forwardToBus()
	err := loop.run(ctx)
	close(c.ended)

	c.inbox.close()
	deadline, cancel := context.WithTimeout(context.Background(), shutdownLimit)
	defer cancel()
	if c.unsubscribe != nil {
		c.unsubscribe()
	}
	loop.timers.Close()
	c.publisher.Close()
	if c.toBus != nil {
		c.toBus.Close()
	}
	for name, done := range map[string]<-chan struct{}{"probes": loop.probes.Close(), "bus": forwarded} {
		select {
		case <-done:
		case <-deadline.Done():
			loop.observers.problem(Problem{ShutdownSlow, fmt.Errorf("%s still busy", name)})
		}
	}
	loop.observers.close()
	return err
}

// forwardToBus makes the bus one of the subscribers: one that blocks holds up nobody else.
func (c *Component) forwardToBus() <-chan struct{} {
	done := make(chan struct{})
	if c.toBus == nil {
		close(done)
		return done
	}
	go func() {
		defer close(done)
		for {
			delivery, err := c.toBus.Next(context.Background())
			if err != nil {
				if !errors.Is(err, effects.ErrClosed) {
					c.Report(Problem{BusSubscription, err})
				}
				return
			}
			c.bus.Publish(delivery.Event)
		}
	}()
	return done
}
