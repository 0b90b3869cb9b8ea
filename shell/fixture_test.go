package shell

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/effects"
	"github.com/haproxy-discovery/haproxy-discovery/shell/internal/loopback"
)

// patience bounds every wait for a condition.
const patience = 10 * time.Second

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// testStore is a store that may not have synced yet.
type testStore struct {
	*loopback.Store
	synced bool
}

func newTestStore(pods ...*unstructured.Unstructured) *testStore {
	return &testStore{loopback.NewStore(pods...), true}
}

func (s *testStore) HasSynced() bool { return s.synced }

// running is a component under test, with everything that its subscriber has received.
type running struct {
	*Component
	t      testing.TB
	cancel context.CancelFunc
	ended  chan error

	mu      sync.Mutex
	events  []core.Event
	arrived chan struct{}
}

// start runs a component with config and credentials known. The test's end stops it.
func start(t testing.TB, port int, store PodStore, opts ...Option) *running {
	t.Helper()
	r := newRunning(t, New(nil, nil, opts...))
	configure(r.Component, port)
	if store != nil {
		r.SetPodStore(store)
	}
	r.begin()
	return r
}

func configure(c *Component, port int) {
	c.HandleEvent(core.ConfigValidated{AgentPort: port})
	c.HandleEvent(core.CredentialsUpdated{Credentials: loopback.Credentials()})
}

func newRunning(t testing.TB, component *Component) *running {
	return &running{
		Component: component, t: t,
		ended: make(chan error, 1), arrived: make(chan struct{}, 1),
	}
}

func (r *running) begin() {
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel = cancel
	subscription := r.Subscribe("test")
	collected := make(chan struct{})
	go func() {
		defer close(collected)
		r.collect(subscription)
	}()
	go func() { r.ended <- r.Start(ctx) }()
	r.t.Cleanup(func() {
		cancel()
		<-collected
	})
}

func (r *running) collect(subscription *effects.Subscription) {
	for {
		delivery, err := subscription.Next(context.Background())
		if err != nil {
			return
		}
		r.mu.Lock()
		r.events = append(r.events, delivery.Event)
		r.mu.Unlock()
		select {
		case r.arrived <- struct{}{}:
		default:
		}
	}
}

func (r *running) received() []core.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]core.Event(nil), r.events...)
}

// await waits until the events received satisfy the condition.
func (r *running) await(what string, condition func([]core.Event) bool) {
	r.t.Helper()
	deadline := time.After(patience)
	for !condition(r.received()) {
		select {
		case <-r.arrived:
		case <-deadline:
			r.t.Fatalf("waited in vain for %s; got %v", what, r.received())
		}
	}
}

// awaitFleet waits until the newest Discovered holds exactly these UIDs, in the order of the keys.
func (r *running) awaitFleet(uids ...string) {
	r.t.Helper()
	r.await(fmt.Sprintf("a fleet of %v", uids), func(events []core.Event) bool {
		for i := len(events) - 1; i >= 0; i-- {
			if discovered, is := events[i].(core.HAProxyPodsDiscovered); is {
				return fmt.Sprint(uidsOf(discovered.Fleet)) == fmt.Sprint(uids)
			}
		}
		return false
	})
}

func uidsOf(fleet core.Fleet) []string {
	uids := []string{}
	for endpoint := range fleet.All() {
		uids = append(uids, endpoint.UID)
	}
	return uids
}

func (r *running) awaitTerminated(uid string, cause core.Cause) {
	r.t.Helper()
	r.await(fmt.Sprintf("T(%s) %s", uid, cause), func(events []core.Event) bool {
		for _, event := range events {
			if e, is := event.(core.HAProxyPodTerminated); is && e.UID == uid && e.Cause == cause {
				return true
			}
		}
		return false
	})
}

// awaitState waits until the component's state satisfies the condition.
func (r *running) awaitState(what string, condition func(core.State) bool) {
	r.t.Helper()
	deadline := time.Now().Add(patience)
	for !condition(r.State()) {
		if time.Now().After(deadline) {
			r.t.Fatalf("waited in vain for %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}

// stop ends the component and gives what Start returned, and how long that took.
func (r *running) stop() (error, time.Duration) {
	r.t.Helper()
	begun := time.Now()
	r.cancel()
	select {
	case err := <-r.ended:
		return err, time.Since(begun)
	case <-time.After(patience):
		r.t.Fatal("Start did not return")
		return nil, 0
	}
}

// awaitLoop waits until all that was put in so far has been taken up.
func (r *running) awaitLoop() {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		err := r.Ping(ctx)
		if err == nil {
			return
		}
		if !errors.Is(err, ErrNotRunning) || ctx.Err() != nil {
			r.t.Fatalf("waited in vain for the loop: %v", err)
		}
		time.Sleep(time.Millisecond) // Start has not been reached yet
	}
}

func (r *running) changed(keys ...core.PodKey) {
	r.HandleEvent(ResourceIndexUpdated{Resource: core.HAProxyPods, Keys: keys})
}

// countingProber is the real prober and tells how many of its probes ran at once at most. A server
// cannot count that: it learns a little late that a client has given up.
type countingProber struct {
	Prober
	mu            sync.Mutex
	running, most int
}

func newCountingProber(t testing.TB) *countingProber {
	prober, err := effects.NewProber(effects.TLSFiles{})
	if err != nil {
		t.Fatal(err)
	}
	return &countingProber{Prober: prober}
}

func (c *countingProber) Probe(ctx context.Context, probe core.StartProbe) core.Outcome {
	c.change(1)
	defer c.change(-1)
	return c.Prober.Probe(ctx, probe)
}

func (c *countingProber) change(by int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running += by
	c.most = max(c.most, c.running)
}

func (c *countingProber) mostAtOnce() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.most
}
