package shell

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell/internal/loopback"
)

func TestColdStartDiscoversTheFleetOverRealAgents(t *testing.T) {
	agents := loopback.NewAgents(t)
	agents.Start("127.77.0.1", loopback.Healthy("3.4.3"))
	agents.Start("127.77.0.2", loopback.Healthy("v3.3.5 8467a253"))
	r := start(t, agents.Port, newTestStore(
		loopback.Pod("hap-0", "u0", "127.77.0.1"), loopback.Pod("hap-1", "u1", "127.77.0.2")))
	r.awaitFleet("u0", "u1")

	endpoint, found := r.State().Admitted().Get(core.PodKey{Namespace: "lb", Name: "hap-1"})
	if !found || endpoint.Version.Major != 3 || endpoint.Version.Minor != 3 {
		t.Errorf("hap-1: %v %v", found, endpoint.Version)
	}
}

// R14: neither a loopback.Hung successor nor a queue stands between a replacement and its news.
func TestReplacementIsToldAtOnceWhileEveryOtherAgentHangs(t *testing.T) {
	agents := loopback.NewAgents(t)
	agents.Start("127.77.0.1", loopback.Healthy("3.4.3"))
	agents.Start("127.77.0.2", loopback.Hung)
	store := newTestStore(loopback.Pod("hap-0", "u0", "127.77.0.1"))
	prober := newCountingProber(t)
	r := start(t, agents.Port, store, WithProber(prober))
	r.awaitFleet("u0")
	for i := range 64 {
		r.changed(store.Set(loopback.Pod(fmt.Sprintf("hung-%02d", i), fmt.Sprintf("h%d", i), "127.77.0.2")))
	}
	r.awaitState("all places taken", func(s core.State) bool { return len(s.Probes()) == 16 })

	begun := time.Now()
	r.changed(store.Set(loopback.Pod("hap-0", "u1", "127.77.0.2")))
	r.awaitTerminated("u0", core.CauseReplaced)
	r.awaitFleet()
	if took := time.Since(begun); took > time.Second/2 {
		t.Errorf("took %v, about as long as a probe", took)
	}
	if _, took := r.stop(); took > time.Second {
		t.Errorf("shutdown took %v", took)
	}
	if prober.mostAtOnce() > 16 {
		t.Errorf("%d probes at once", prober.mostAtOnce())
	}
}

// Healthy pods behind loopback.Hung ones are admitted when the first places fall free.
func TestHealthyPodsAreAdmittedBehindSixteenHungOnes(t *testing.T) {
	agents := loopback.NewAgents(t)
	agents.Start("127.77.0.1", loopback.Hung)
	agents.Start("127.77.0.2", loopback.Healthy("3.4.3"))
	store := newTestStore()
	for i := range 16 {
		store.Set(loopback.Pod(fmt.Sprintf("a-loopback.Hung-%02d", i), fmt.Sprintf("h%d", i), "127.77.0.1"))
	}
	store.Set(loopback.Pod("z-healthy", "u1", "127.77.0.2"))
	begun := time.Now()
	prober := newCountingProber(t)
	r := start(t, agents.Port, store, WithProber(prober))
	r.awaitFleet("u1")
	if took := time.Since(begun); took > 3*time.Second {
		t.Errorf("took %v, more than one first-attempt limit by far", took)
	}
	if prober.mostAtOnce() > 16 {
		t.Errorf("%d probes at once", prober.mostAtOnce())
	}
}

// A flood of unrelated changes delays nothing.
func TestFloodOfUnrelatedChangesDelaysNoTermination(t *testing.T) {
	agents := loopback.NewAgents(t)
	agents.Start("127.77.0.1", loopback.Healthy("3.4.3"))
	store := newTestStore(loopback.Pod("hap-0", "u0", "127.77.0.1"))
	r := start(t, agents.Port, store)
	r.awaitFleet("u0")

	ctx, cancel := context.WithCancel(context.Background())
	var flood sync.WaitGroup
	flood.Go(func() {
		ticker := time.NewTicker(time.Millisecond)
		defer ticker.Stop()
		for n := 0; ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			pod := loopback.Pod(fmt.Sprintf("other-%03d", n%500), "o", "127.77.0.9")
			_ = unstructured.SetNestedField(pod.Object, "Pending", "status", "phase")
			_ = unstructured.SetNestedField(pod.Object, fmt.Sprint(n), "metadata", "labels", "n")
			r.changed(store.Set(pod))
		}
	})
	defer flood.Wait()
	defer cancel()
	r.awaitState("the flood under way", func(s core.State) bool { return s.Len() > 100 })
	// The best of several: a busy machine may take its time, a queue always would.
	best := patience
	for attempt := 0; attempt < 5 && best > 100*time.Millisecond; attempt++ {
		begun := time.Now()
		r.changed(store.Remove("hap-0"))
		r.awaitTerminated(fmt.Sprintf("u%d", attempt), core.CauseDeleted)
		r.awaitFleet()
		best = min(best, time.Since(begun))
		next := fmt.Sprintf("u%d", attempt+1)
		r.changed(store.Set(loopback.Pod("hap-0", next, "127.77.0.1")))
		r.awaitFleet(next)
	}
	if best > 100*time.Millisecond {
		t.Errorf("took %v at best", best)
	}
}

func TestSubscriberThatNeverReadsCostsTheOthersNothing(t *testing.T) {
	agents := loopback.NewAgents(t)
	agents.Start("127.77.0.1", loopback.Healthy("3.4.3"))
	store := newTestStore(loopback.Pod("hap-0", "u0", "127.77.0.1"))
	r := newRunning(t, New(nil, nil))
	stalled := r.Subscribe("stalled")
	configure(r.Component, agents.Port)
	r.SetPodStore(store)
	r.begin()
	r.awaitFleet("u0")
	r.changed(store.Remove("hap-0"))
	r.awaitFleet()
	if stalled.Lag() == 0 {
		t.Error("the stalled subscriber has nothing waiting")
	}
	if err, took := r.stop(); err != nil || took > time.Second {
		t.Errorf("Start: %v after %v", err, took)
	}
}

// R31.
func TestShutdownInMidProbeTellsNothingAndIsQuick(t *testing.T) {
	agents := loopback.NewAgents(t)
	agents.Start("127.77.0.1", loopback.Hung)
	store := newTestStore()
	for i := range 40 {
		store.Set(loopback.Pod(fmt.Sprintf("hap-%02d", i), fmt.Sprintf("u%d", i), "127.77.0.1"))
	}
	r := start(t, agents.Port, store)
	r.awaitState("probes under way", func(s core.State) bool { return len(s.Probes()) == 16 })
	before := len(r.received())
	err, took := r.stop()
	if err != nil || took > time.Second {
		t.Errorf("Start: %v after %v", err, took)
	}
	if after := r.received(); len(after) != before {
		t.Errorf("events caused by the shutdown: %v", after[before:])
	}
	if err := r.Start(context.Background()); !errors.Is(err, ErrStarted) {
		t.Errorf("second Start: %v", err)
	}
}

// R20: an unreadable store changes nothing, and what was owed is made up for.
func TestUnreadableStoreKeepsTheFleet(t *testing.T) {
	agents := loopback.NewAgents(t)
	agents.Start("127.77.0.1", loopback.Healthy("3.4.3"))
	store := newTestStore(loopback.Pod("hap-0", "u0", "127.77.0.1"))
	store.Fail(errors.New("the store is on fire"))
	problems := &problemLog{}
	r := start(t, agents.Port, store, WithObserver(problems))
	problems.await(t, StoreUnreadable)
	if r.State().GateOpen() {
		t.Fatal("the gate has opened without a list")
	}
	store.Fail(nil)
	r.awaitFleet("u0")

	store.Fail(errors.New("the store is on fire again"))
	problems.forget()
	r.HandleEvent(DriftPreventionTriggered{})
	problems.await(t, StoreUnreadable)
	problems.forget()
	r.changed(core.PodKey{Namespace: "lb", Name: "hap-0"})
	problems.await(t, StoreUnreadable)
	if got := fmt.Sprint(uidsOf(r.State().Admitted())); got != "[u0]" {
		t.Errorf("fleet: %s", got)
	}
}

// R6: what a new store lacks is retired only once it has synced.
func TestStoreSwapRetiresNothingBeforeItsSync(t *testing.T) {
	agents := loopback.NewAgents(t)
	agents.Start("127.77.0.1", loopback.Healthy("3.4.3"))
	agents.Start("127.77.0.2", loopback.Healthy("3.4.3"))
	agents.Start("127.77.0.3", loopback.Hung)
	r := start(t, agents.Port, newTestStore(
		loopback.Pod("hap-0", "u0", "127.77.0.1"), loopback.Pod("hap-1", "u1", "127.77.0.2"),
		loopback.Pod("hap-2", "u2", "127.77.0.3")))
	r.awaitFleet("u0", "u1") // u2's probe is still under way

	next := newTestStore(loopback.Pod("hap-1", "u1", "127.77.0.2"))
	next.synced = false
	r.SetPodStore(next)
	r.awaitLoop() // else one look at the store would do for both
	r.HandleEvent(DriftPreventionTriggered{})
	r.await("both passes", func(events []core.Event) bool {
		last, is := events[len(events)-1].(core.HAProxyPodsDiscovered)
		return is && last.Trigger == core.TriggerDriftPreventionTriggered
	})
	r.awaitFleet("u0", "u1")

	r.HandleEvent(ResourceSyncComplete{Resource: core.HAProxyPods})
	r.awaitTerminated("u0", core.CauseDeleted)
	r.awaitFleet("u1")
}

// R9: an event only names pods; the store is asked, whatever the event was about.
func TestIndexEventsOnlyNamePods(t *testing.T) {
	agents := loopback.NewAgents(t)
	agents.Start("127.77.0.1", loopback.Healthy("3.4.3"))
	store := newTestStore()
	r := start(t, agents.Port, store)
	r.awaitFleet()
	key := store.Set(loopback.Pod("hap-0", "u0", "127.77.0.1"))
	r.changed(key, key, core.PodKey{Namespace: "lb", Name: "never-seen"})
	r.awaitFleet("u0")
	if agents.Requests("127.77.0.1") != 1 {
		t.Errorf("%d probes", agents.Requests("127.77.0.1"))
	}
	for range 100 {
		r.changed(key)
		r.HandleEvent(ResourceIndexUpdated{Resource: "configmaps", Keys: []core.PodKey{key}})
	}
	generation := generationOf(r.State())
	r.HandleEvent(core.BecameLeader{})
	r.await("a replay", func(events []core.Event) bool {
		last, is := events[len(events)-1].(core.HAProxyPodsDiscovered)
		return is && last.Replay && last.Generation == generation
	})
	r.changed(store.Remove("hap-0"))
	r.awaitTerminated("u0", core.CauseDeleted)
}

func generationOf(state core.State) uint64 {
	_, generation, _ := state.Published()
	return generation
}

func TestUnknownEventsAreToldAndDoNothingElse(t *testing.T) {
	told := &problemLog{}
	r := newRunning(t, New(nil, nil, WithObserver(told)))
	var nothing *unstructured.Unstructured
	for _, event := range []any{nil, nothing, 7, "text", &core.ConfigValidated{AgentPort: 1}, core.ProbeFinished{}} {
		for range 100 {
			r.HandleEvent(event)
		}
	}
	r.begin()
	r.awaitLoop()
	if told.count(UnknownEvent) != 6 {
		t.Errorf("told %d times, not once for each type that waited", told.count(UnknownEvent))
	}
	r.HandleEvent(7)
	r.awaitLoop()
	if told.count(UnknownEvent) != 7 {
		t.Error("an event after the one that was told is not told")
	}
	if told.reduced != 0 {
		t.Errorf("%d steps", told.reduced)
	}
}

func TestPanickingObserverIsDroppedAndDiscoveryGoesOn(t *testing.T) {
	agents := loopback.NewAgents(t)
	agents.Start("127.77.0.1", loopback.Healthy("3.4.3"))
	var log strings.Builder
	panicking := &panickingObserver{}
	after := &problemLog{}
	r := newRunning(t, New(nil, textLogger(&log), WithObserver(panicking), WithObserver(after)))
	configure(r.Component, agents.Port)
	r.SetPodStore(newTestStore(loopback.Pod("hap-0", "u0", "127.77.0.1")))
	r.begin()
	r.awaitFleet("u0")
	if err, _ := r.stop(); err != nil {
		t.Errorf("Start: %v", err)
	}
	if panicking.calls != 1 || after.reduced < 4 {
		t.Errorf("panicking observer called %d times, the other %d", panicking.calls, after.reduced)
	}
	if !strings.Contains(log.String(), "observer dropped") {
		t.Errorf("not logged:\n%s", &log)
	}
}

// R32.
func TestPanicInTheReducerStopsTheComponentWithAnError(t *testing.T) {
	closed := &closingObserver{}
	r := newRunning(t, New(nil, nil, WithObserver(closed), func(o *options) {
		o.reduce = func(core.State, core.Input) (core.State, []core.Effect) { panic("a bug") }
	}))
	r.HandleEvent(core.BecameLeader{})
	r.begin()
	select {
	case err := <-r.ended:
		if !errors.Is(err, ErrReducerPanicked) || !strings.Contains(err.Error(), "input 1") {
			t.Errorf("Start: %v", err)
		}
	case <-time.After(patience):
		t.Fatal("the component goes on")
	}
	if closed.taken != 1 || closed.closed != 1 {
		t.Errorf("observer: %d inputs taken, closed %d times", closed.taken, closed.closed)
	}
}

func TestInvalidOptionsPanicInNew(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	New(nil, nil, WithConfig(core.Config{AgentScheme: "gopher"}))
}

// A wrong password is a rejection, and the log of it all holds no trace of it.
func TestWrongPasswordIsRejectedWithoutATrace(t *testing.T) {
	agents := loopback.NewAgents(t)
	agents.Start("127.77.0.1", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Echo", r.Header.Get("Authorization"))
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = fmt.Fprint(w, r.Header.Get("Authorization"), " pass-word-1")
	})
	var log strings.Builder
	r := newRunning(t, New(nil, textLogger(&log)))
	configure(r.Component, agents.Port)
	r.SetPodStore(newTestStore(loopback.Pod("hap-0", "u0", "127.77.0.1")))
	r.begin()
	r.await("a rejection", func(events []core.Event) bool {
		for _, event := range events {
			if e, is := event.(core.HAProxyPodRejected); is && e.Cause == core.CauseUnauthorized {
				return true
			}
		}
		return false
	})
	if err, _ := r.stop(); err != nil {
		t.Fatal(err)
	}
	all := log.String() + fmt.Sprintf("%+v %#v", r.received(), r.State())
	for _, trace := range []string{"pass-word-1", "YWRtaW46cGFzcy13b3JkLTE", "706173732d776f72642d31"} {
		if strings.Contains(all, trace) {
			t.Errorf("%q shows in:\n%s", trace, all)
		}
	}
}
