package shell

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/core/intake"
	"github.com/haproxy-discovery/haproxy-discovery/effects"
)

// ComponentName is the name under which the component subscribes to the bus and logs.
const ComponentName = "discovery"

// The limits of the end, which has a second in all (R31).
const (
	// shutdownLimit is for the loop, the probes and the bus.
	shutdownLimit = 400 * time.Millisecond
	// closeLimit is for the observers after that.
	closeLimit = 400 * time.Millisecond
)

// maxUnknownResources bounds of how many resources a Component remembers that they were reported.
const maxUnknownResources = 16

// ErrStarted is returned by a second Start.
var ErrStarted = errors.New("the component was started before")

// ErrNotRunning is returned by Ping before Start and after its end.
var ErrNotRunning = errors.New("the component is not running")

// ErrReducerPanicked is wrapped by Start's error after a bug in the reducer (R32): the component
// never goes on from a state nobody reduced.
var ErrReducerPanicked = errors.New("the reducer panicked")

// ErrStorePanicked, ErrBusPanicked and ErrBusLagging are wrapped by Start's error after a panic in
// the pod store (a nil pointer given as one, for instance) or in the bus, or when the bus has left
// more than 10,000 terminations untaken (R30): what follows would be wrong, or not heard.
var (
	ErrStorePanicked = errors.New("the pod store panicked")
	ErrBusPanicked   = errors.New("the bus panicked")
	ErrBusLagging    = errors.New("the bus takes no events")
)

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

// Start runs the component until ctx ends, and returns nil then: probes are cancelled, observers
// closed, all goroutines gone, within a second (R31). A store, a bus, a prober or an observer that
// does not come back by then is reported (ShutdownSlow) and left behind; nothing comes of it any
// more. It returns an error when the reducer, the store or the bus panics (ErrReducerPanicked,
// ErrStorePanicked, ErrBusPanicked), when the bus takes nothing (ErrBusLagging), and on a second
// call (ErrStarted).
func (c *Component) Start(ctx context.Context) error {
	if !c.started.CompareAndSwap(false, true) {
		return ErrStarted
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.failed, cancel)()
	loop := newLoop(c)
	forwarded := c.forwardToBus()
	var loopErr error
	go func() {
		defer close(c.looped)
		c.turn.mu.Lock()
		defer c.turn.mu.Unlock()
		if err := guarded(func() { loopErr = loop.run(ctx) }); err != nil {
			loopErr = fmt.Errorf("the loop: %w", err)
		}
	}()
	select {
	case <-c.looped:
	case <-ctx.Done():
	}
	slow := c.stop(loop, forwarded)
	c.endObservers(loop.observers, slow)
	select {
	case <-c.looped:
		return errors.Join(loopErr, context.Cause(c.failed))
	default:
		return context.Cause(c.failed)
	}
}

// stop ends all but the observers, and tells what does not end.
func (c *Component) stop(loop *loop, forwarded <-chan struct{}) (slow []Problem) {
	deadline, cancel := context.WithTimeout(context.Background(), shutdownLimit)
	defer cancel()
	c.inbox.close()
	unsubscribed := c.endSubscription()
	busy := func(name string) {
		slow = append(slow, Problem{ShutdownSlow, fmt.Errorf("%s still busy, left behind", name)})
	}
	if !endsBy(deadline, c.looped) {
		if where := c.turn.abandon(); where != "" {
			busy(where)
		} else {
			<-c.looped // it was about to end
		}
	}
	close(c.ended)
	loop.timers.Close()
	c.publisher.Close()
	if c.toBus != nil {
		c.toBus.Close()
	}
	for _, activity := range []struct {
		name string
		done <-chan struct{}
	}{
		{"probes", loop.probes.Close()}, {"the bus", forwarded}, {"the bus's unsubscribe", unsubscribed},
	} {
		if !endsBy(deadline, activity.done) {
			busy(activity.name)
		}
	}
	return slow
}

// endObservers tells them what was left behind and closes them. Those that hang are logged, if the
// logger does not.
func (c *Component) endObservers(observers *observers, slow []Problem) {
	deadline, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	if hanging := observers.end(deadline, slow); len(hanging) > 0 {
		go logging{c.logger}.Problem(Problem{ShutdownSlow,
			fmt.Errorf("closing %s still busy, left behind", strings.Join(hanging, ", "))})
	}
}

// endsBy waits for the end of an activity; one that has ended by then is not missed.
func endsBy(deadline context.Context, done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	case <-deadline.Done():
	}
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// endSubscription has a goroutine of its own: buses wait for their handlers there.
func (c *Component) endSubscription() <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		if c.unsubscribe == nil {
			return
		}
		if err := guarded(c.unsubscribe); err != nil {
			c.fail(fmt.Errorf("%w: unsubscribing: %w", ErrBusPanicked, err))
		}
	}()
	return done
}

// forwardToBus makes the bus one of the subscribers: one that blocks holds up nobody else.
func (c *Component) forwardToBus() <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for c.toBus != nil {
			delivery, err := c.toBus.Next(context.Background())
			if err != nil {
				return // who lags was told of when it was dropped
			}
			if err := guarded(func() { c.bus.Publish(delivery.Event) }); err != nil {
				c.fail(fmt.Errorf("%w: publishing: %w", ErrBusPanicked, err))
				return
			}
		}
	}()
	return done
}
