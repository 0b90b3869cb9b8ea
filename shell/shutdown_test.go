package shell

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell/internal/loopback"
)

// proberFunc is a prober of a test's own.
type proberFunc func(context.Context, core.StartProbe) core.Outcome

func (f proberFunc) Probe(ctx context.Context, probe core.StartProbe) core.Outcome {
	return f(ctx, probe)
}

// lockingBus takes a lock to unsubscribe that Publish holds as well, as many buses do.
type lockingBus struct {
	mu      sync.Mutex
	inside  chan struct{}
	release chan struct{}
}

func (b *lockingBus) Subscribe(string, func(any)) func() {
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
	}
}

func (b *lockingBus) Publish(core.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.inside <- struct{}{}
	<-b.release
}

// stuckStore does not return from a read before it is released.
type stuckStore struct {
	inside, release chan struct{}
}

func (s stuckStore) List(labels.Selector) ([]runtime.Object, error) {
	s.inside <- struct{}{}
	<-s.release
	return []runtime.Object{loopback.Pod("hap-0", "u0", "127.77.0.1")}, nil
}

func (s stuckStore) Get(string) (runtime.Object, error) { return nil, errors.New("not asked") }
func (s stuckStore) HasSynced() bool                    { return true }

// stuckObserver does not return from the methods that are to hang.
type stuckObserver struct {
	problemLog
	inTaken, inClose bool
	inside, release  chan struct{}
	closed           atomic.Bool
}

func (s *stuckObserver) Taken(time.Time, core.Input) {
	if s.inTaken {
		s.inside <- struct{}{}
		<-s.release
	}
}

func (s *stuckObserver) Close() error {
	if s.inClose {
		<-s.release
	}
	s.closed.Store(true)
	return nil
}

// R31: whatever does not come back, Start does, within a second. What hangs is told once, the other
// observers are closed, and nothing comes of it when it comes back after all.
func TestStartReturnsWhateverHangs(t *testing.T) {
	for _, test := range []struct {
		name, told string
		make       func(inside, release chan struct{}) *Component
	}{
		{"a bus whose unsubscribe waits for its consumer", "the bus still busy",
			func(inside, release chan struct{}) *Component {
				return New(&lockingBus{inside: inside, release: release}, nil,
					WithProber(answering{}))
			}},
		{"a store", "the pod store still busy", func(inside, release chan struct{}) *Component {
			c := New(nil, nil, WithProber(answering{}))
			c.SetPodStore(stuckStore{inside, release})
			return c
		}},
		{"a prober", "probes still busy", func(inside, release chan struct{}) *Component {
			return New(nil, nil, WithProber(proberFunc(
				func(ctx context.Context, probe core.StartProbe) core.Outcome {
					inside <- struct{}{}
					<-release
					return answering{}.Probe(ctx, probe)
				})))
		}},
		{"an observer", "stuckObserver still busy", func(inside, release chan struct{}) *Component {
			return New(nil, nil, WithProber(answering{}),
				WithObserver(&stuckObserver{inTaken: true, inside: inside, release: release}))
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			inside, release := make(chan struct{}, 1000), make(chan struct{})
			var told []string
			other := &reportingObserver{told: &told, closed: make(chan struct{})}
			c := test.make(inside, release)
			c.options.observers = append(c.options.observers, other)
			r := newRunning(t, c)
			configure(c, 5555)
			if c.inbox.store == nil {
				c.SetPodStore(newTestStore(loopback.Pod("hap-0", "u0", "127.77.0.1")))
			}
			r.begin()
			<-inside
			err, took := r.stop()
			if err != nil || took > time.Second {
				t.Errorf("Start: %v after %v", err, took)
			}
			<-other.closed
			if all := strings.Join(told, "; "); strings.Count(all, test.told) != 1 {
				t.Errorf("told: %s", all)
			}
			seen, events, state := other.calls.Load(), len(r.received()), c.State()
			close(release)
			select {
			case <-c.looped:
			case <-time.After(patience):
				t.Fatal("the loop goes on")
			}
			if other.calls.Load() != seen || len(r.received()) != events {
				t.Error("what came back late has told something")
			}
			_, knew := state.Settings()
			if _, knows := c.State().Settings(); knows != knew || state.Len() != c.State().Len() {
				t.Error("what came back late has changed the state")
			}
		})
	}
}

// reportingObserver keeps what it is told, and counts its calls.
type reportingObserver struct {
	calls  atomic.Int64
	told   *[]string
	closed chan struct{}
}

func (r *reportingObserver) Taken(time.Time, core.Input) { r.calls.Add(1) }
func (r *reportingObserver) Reduced(Step)                { r.calls.Add(1) }
func (r *reportingObserver) Problem(problem Problem) {
	r.calls.Add(1)
	*r.told = append(*r.told, problemText(problem))
}

func (r *reportingObserver) Close() error {
	close(r.closed)
	return nil
}

// An observer whose Close hangs or panics holds up neither the end nor the Close of the others.
func TestObserverWhoseCloseHangsHoldsUpNothing(t *testing.T) {
	stuck := &stuckObserver{inClose: true, release: make(chan struct{})}
	defer close(stuck.release)
	after := &stuckObserver{}
	r := newRunning(t, New(nil, nil, WithObserver(stuck), WithObserver(after)))
	r.begin()
	r.awaitLoop()
	if err, took := r.stop(); err != nil || took > time.Second {
		t.Errorf("Start: %v after %v", err, took)
	}
	if !after.closed.Load() {
		t.Error("the other observer is not closed")
	}
}

// What an observer that panicked holds is given back at once.
func TestPanickingObserverIsClosed(t *testing.T) {
	panicking := &closedPanicker{closed: make(chan struct{})}
	r := newRunning(t, New(nil, nil, WithObserver(panicking)))
	r.HandleEvent(core.ConfigValidated{AgentPort: 5555})
	r.begin()
	select {
	case <-panicking.closed: // and once: a second Close would panic
	case <-time.After(patience):
		t.Fatal("not closed")
	}
	if err, _ := r.stop(); err != nil {
		t.Errorf("Start: %v", err)
	}
}

type closedPanicker struct {
	panickingObserver
	closed chan struct{}
}

func (c *closedPanicker) Close() error {
	close(c.closed)
	return errors.New("closed, but not well")
}

// panickingBus panics where it is told to.
type panickingBus struct{ inPublish bool }

func (b panickingBus) Subscribe(string, func(any)) func() {
	return func() {
		if !b.inPublish {
			panic("a bus's bug")
		}
	}
}

func (b panickingBus) Publish(core.Event) {
	if b.inPublish {
		panic("a bus's bug")
	}
}

type panickingStore struct {
	*testStore
	inList, inGet, inHasSynced bool
}

func (s panickingStore) List(selector labels.Selector) ([]runtime.Object, error) {
	if s.inList {
		panic("a store's bug")
	}
	return s.testStore.List(selector)
}

func (s panickingStore) Get(key string) (runtime.Object, error) {
	if s.inGet {
		panic("a store's bug")
	}
	return s.testStore.Get(key)
}

func (s panickingStore) HasSynced() bool {
	if s.inHasSynced {
		panic("a store's bug")
	}
	return true
}

// R32: a panic in the store or in the bus is an error of Start, and the program goes on.
func TestPanicOfForeignCodeIsAnErrorOfStart(t *testing.T) {
	pods := newTestStore(loopback.Pod("hap-0", "u0", "127.77.0.1"))
	var none *loopback.Store
	for _, test := range []struct {
		name  string
		bus   Bus
		store PodStore
		want  error
		stop  bool
	}{
		{"List", nil, panickingStore{testStore: pods, inList: true}, ErrStorePanicked, false},
		{"Get", nil, panickingStore{testStore: pods, inGet: true}, ErrStorePanicked, false},
		{"HasSynced", nil, panickingStore{testStore: pods, inHasSynced: true}, ErrStorePanicked, false},
		{"nil pointer", nil, none, ErrStorePanicked, false},
		{"Publish", panickingBus{inPublish: true}, pods, ErrBusPanicked, false},
		{"unsubscribe", panickingBus{}, pods, ErrBusPanicked, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			observer := &stuckObserver{}
			r := newRunning(t, New(test.bus, nil,
				WithProber(answering{}), WithObserver(observer)))
			configure(r.Component, 5555)
			r.SetPodStore(test.store)
			r.begin()
			if store, is := test.store.(panickingStore); is && store.inGet {
				r.awaitLoop() // the list is read
				r.changed(core.PodKey{Namespace: "lb", Name: "hap-0"})
			}
			if test.stop {
				r.awaitLoop()
				r.cancel()
			}
			select {
			case err := <-r.ended:
				if !errors.Is(err, test.want) {
					t.Errorf("Start: %v", err)
				}
			case <-time.After(patience):
				t.Fatal("Start goes on")
			}
			if !observer.closed.Load() {
				t.Error("the observers are not closed")
			}
		})
	}
}

// A prober that panics, or has no outcome, has failed, and its place falls free.
func TestProberWithoutAnOutcomeIsAFailedProbe(t *testing.T) {
	for name, prober := range map[string]proberFunc{
		"panics": func(context.Context, core.StartProbe) core.Outcome { panic("pass-word-1") },
		"nil":    func(context.Context, core.StartProbe) core.Outcome { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, 5555, newTestStore(loopback.Pod("hap-0", "u0", "127.77.0.1")),
				WithProber(prober))
			r.await("a rejection", func(events []core.Event) bool {
				for _, event := range events {
					e, is := event.(core.HAProxyPodRejected)
					if is && e.Cause == core.CauseOther && !strings.Contains(fmt.Sprint(e), "pass-word") {
						return true
					}
				}
				return false
			})
			if err, _ := r.stop(); err != nil {
				t.Errorf("Start: %v", err)
			}
		})
	}
}

type panickingHandler struct{ slog.Handler }

func (panickingHandler) Enabled(context.Context, slog.Level) bool  { return true }
func (panickingHandler) Handle(context.Context, slog.Record) error { panic("a logger's bug") }
func (h panickingHandler) WithAttrs([]slog.Attr) slog.Handler      { return h }

func TestPanickingLoggerEndsNothing(t *testing.T) {
	told := &problemLog{}
	r := newRunning(t, New(nil, slog.New(panickingHandler{}),
		WithObserver(&panickingObserver{}), WithObserver(told)))
	r.HandleEvent(core.ConfigValidated{AgentPort: 5555})
	r.HandleEvent(7)
	r.begin()
	told.await(t, UnknownEvent)
	if err, _ := r.stop(); err != nil {
		t.Errorf("Start: %v", err)
	}
}

// R30: nobody is deaf and healthy. The subscriber that was dropped counts until it knows.
func TestHealthTellsOfASubscriberThatTakesNothing(t *testing.T) {
	told := &problemLog{}
	r := newRunning(t, New(nil, nil, WithObserver(told), terminating(10_001)))
	stalled := r.Subscribe("stalled")
	r.begin()
	r.awaitLoop()
	ctx := context.Background()
	if err := r.Healthy(ctx); err != nil {
		t.Errorf("before: %v", err)
	}
	r.HandleEvent(core.BecameLeader{})
	told.await(t, SubscriberDropped)
	if err := r.Healthy(ctx); err == nil || !strings.Contains(err.Error(), `"stalled"`) {
		t.Errorf("deaf: %v", err)
	}
	if err := r.Ping(ctx); err != nil {
		t.Errorf("the loop lives: %v", err)
	}
	_, _ = stalled.Next(ctx)
	r.await("the test's own to have read", func(events []core.Event) bool { return true })
	if err := r.Healthy(ctx); err != nil && strings.Contains(err.Error(), `"stalled"`) {
		t.Errorf("after the subscriber has seen its error: %v", err)
	}
}

// A resource that is a slip of the pen is told of once, and not of many; inputs of core are not
// taken in, by whichever way they come.
func TestMisnamedEventsAreTold(t *testing.T) {
	told := &problemLog{}
	bus := newTestBus()
	close(bus.gate)
	r := newRunning(t, New(bus, nil, WithObserver(told)))
	r.begin()
	r.awaitLoop()
	for range 3 {
		r.HandleEvent(ResourceIndexUpdated{Resource: "pods"})
		r.awaitLoop()
	}
	bus.send(ResourceIndexUpdated{Resource: "configmaps"}) // somebody else's business
	r.HandleEvent(ResourceSyncComplete{Resource: "pods"})
	r.awaitLoop()
	if n := told.count(UnknownResource); n != 1 {
		t.Errorf("told %d times of one resource", n)
	}
	for i := range 100 {
		r.HandleEvent(ResourceSyncComplete{Resource: fmt.Sprint(i)})
	}
	r.awaitLoop()
	if n := told.count(UnknownResource); n != maxUnknownResources {
		t.Errorf("told of %d resources", n)
	}
	r.HandleEvent(core.ResourceIndexUpdated{Resource: core.HAProxyPods})
	r.HandleEvent(core.ResourceSyncComplete{Resource: core.HAProxyPods})
	bus.send(core.DriftPreventionTriggered{})
	r.awaitLoop()
	if n := told.count(UnknownEvent); n != 3 || told.reduced != 0 {
		t.Errorf("told %d times, %d steps", n, told.reduced)
	}
}
