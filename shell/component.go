package shell

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/effects"
)

// ComponentName is the name under which the component subscribes to the bus and logs.
const ComponentName = "discovery"

// ErrNotRunning is returned by Ping before Start and after its end.
var ErrNotRunning = errors.New("the component is not running")

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
	// ended is closed when the loop has, or was abandoned; looped only when its goroutine is gone.
	ended, looped chan struct{}
	turn          turn
	// failed ends, with the cause, when something outside the reducer makes it wrong to go on.
	failed context.Context
	fail   context.CancelCauseFunc
	state  atomic.Pointer[core.State]

	unknownMu sync.Mutex
	unknown   map[string]bool
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
		looped:    make(chan struct{}),
		unknown:   map[string]bool{},
	}
	c.failed, c.fail = context.WithCancelCause(context.Background())
	for _, option := range opts {
		option(&c.options)
	}
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	c.logger = slog.New(guardedHandler{logger.Handler()}).With("component", ComponentName)
	if c.prober == nil {
		prober, err := effects.NewProber(effects.TLSFiles{})
		if err != nil {
			panic(fmt.Sprintf("shell.New: %v", err))
		}
		c.prober = prober
	}
	state := core.New(c.config)
	c.state.Store(&state)
	for _, observer := range c.observers {
		if interested, is := observer.(ComponentObserver); is {
			interested.Observes(c)
		}
	}
	if bus != nil {
		c.toBus = c.publisher.Subscribe("bus")
		c.unsubscribe = bus.Subscribe(ComponentName, func(event any) {
			if misuse, is := c.takeIn(event).(misusedInput); is {
				c.Report(Problem{UnknownEvent, misuse})
			}
		})
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
		c.inbox.putStore(c.foreign(store))
	}
}

// State is the newest state; it stays valid for ever.
func (c *Component) State() core.State { return *c.state.Load() }

// HandleEvent takes in an event: core.ConfigValidated, core.CredentialsUpdated, core.BecameLeader,
// ResourceIndexUpdated, ResourceSyncComplete or DriftPreventionTriggered. Any other type is reported
// as a problem, and so is, once, each resource other than core.HAProxyPods. It never blocks and is
// safe at any time, before Start too.
func (c *Component) HandleEvent(event any) {
	switch err := c.takeIn(event).(type) {
	case nil:
	case unknownResource:
		if c.isNew(err) {
			c.Report(Problem{UnknownResource, err})
		}
	default:
		c.Report(Problem{UnknownEvent, err})
	}
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

// Healthy is Ping, and an error too while a subscriber that was dropped (R30) has not noticed it: one
// that hangs would otherwise go on with a fleet of the past.
func (c *Component) Healthy(ctx context.Context) error {
	if err := c.Ping(ctx); err != nil {
		return err
	}
	if deaf := c.publisher.Deaf(); len(deaf) > 0 {
		return fmt.Errorf("subscriber %q takes no events: %w", deaf[0].Name(), effects.ErrLagging)
	}
	return nil
}

// dropped is the problem that a subscriber's end is; that of the bus ends the component.
func (c *Component) dropped(gone *effects.Subscription) Problem {
	err := fmt.Errorf("subscriber %q: %w", gone.Name(), effects.ErrLagging)
	if gone == c.toBus {
		c.fail(fmt.Errorf("%w: %w", ErrBusLagging, effects.ErrLagging))
	}
	return Problem{SubscriberDropped, err}
}

// NeedLeaderElection tells a manager of controller-runtime that discovery runs on every replica,
// leader or not (R19).
func (c *Component) NeedLeaderElection() bool { return false }
