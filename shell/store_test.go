package shell

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/core/intake"
	"github.com/haproxy-discovery/haproxy-discovery/shell/internal/loopback"
)

// answering is a prober whose every agent answers: these tests are about stores, in virtual time.
type answering struct{}

func (answering) Probe(context.Context, core.StartProbe) core.Outcome {
	return core.Answer{Version: "3.4.3"}
}

// inVirtualTime runs a component whose drift ticks are off.
func inVirtualTime(t *testing.T, store PodStore, test func(r *running)) {
	synctest.Test(t, func(t *testing.T) {
		r := newRunning(t, New(nil, nil, WithProber(answering{}), WithDriftInterval(0)))
		configure(r.Component, 5555)
		if store != nil {
			r.SetPodStore(store)
		}
		r.begin()
		synctest.Wait()
		test(r)
	})
}

func (r *running) expectFleet(uids ...string) {
	r.t.Helper()
	synctest.Wait()
	got := uidsOf(r.State().Admitted())
	if len(got) != len(uids) || len(uids) > 0 && got[0] != uids[0] {
		r.t.Errorf("fleet %v instead of %v", got, uids)
	}
}

// R6: a sync that was told of the store before says nothing of the next one, even if both are
// waiting to be taken up.
func TestSyncIsAboutTheStoreBeforeIt(t *testing.T) {
	inVirtualTime(t, newTestStore(loopback.Pod("hap-0", "u0", "10.1.0.10")), func(r *running) {
		r.expectFleet("u0")
		unsynced := newTestStore()
		unsynced.synced = false
		r.SetPodStore(newTestStore(loopback.Pod("hap-0", "u0", "10.1.0.10")))
		r.HandleEvent(ResourceSyncComplete{Resource: core.HAProxyPods})
		r.SetPodStore(unsynced)
		r.expectFleet("u0")
		r.HandleEvent(ResourceSyncComplete{Resource: core.HAProxyPods})
		r.expectFleet()
	})
}

func TestNilStoreIsIgnored(t *testing.T) {
	inVirtualTime(t, newTestStore(loopback.Pod("hap-0", "u0", "10.1.0.10")), func(r *running) {
		r.SetPodStore(nil)
		r.HandleEvent(ResourceSyncComplete{Resource: core.HAProxyPods})
		r.expectFleet("u0")
	})
}

// R9, R20: a named pod that could not be read is read again, drift ticks or not.
func TestNamedPodThatCouldNotBeReadIsReadAgain(t *testing.T) {
	store := newTestStore(loopback.Pod("hap-0", "u0", "10.1.0.10"))
	inVirtualTime(t, store, func(r *running) {
		r.expectFleet("u0")
		key := store.Remove("hap-0")
		store.Fail(errors.New("the store is on fire"))
		r.changed(key)
		r.expectFleet("u0")
		store.Fail(nil)
		time.Sleep(intake.RetryDelay)
		r.expectFleet()
	})
}

// countingStore counts how often it is listed.
type countingStore struct {
	*testStore
	lists atomic.Int64
}

func (s *countingStore) List(selector labels.Selector) ([]runtime.Object, error) {
	s.lists.Add(1)
	return s.testStore.List(selector)
}

func TestUnreadableStoreIsTriedOnceASecond(t *testing.T) {
	store := &countingStore{testStore: newTestStore()}
	store.Fail(errors.New("the store is on fire"))
	inVirtualTime(t, store, func(r *running) {
		for range 30 {
			r.HandleEvent(DriftPreventionTriggered{})
			synctest.Wait()
		}
		before := store.lists.Load()
		time.Sleep(10*intake.RetryDelay + intake.RetryDelay/2)
		if tries := store.lists.Load() - before; tries != 10 {
			t.Errorf("%d tries in ten seconds", tries)
		}
	})
}

func TestObjectThatLosesItsUIDIsGone(t *testing.T) {
	store := newTestStore(loopback.Pod("hap-0", "u0", "10.1.0.10"))
	inVirtualTime(t, store, func(r *running) {
		r.expectFleet("u0")
		r.changed(store.Set(loopback.Pod("hap-0", "", "10.1.0.10")))
		r.expectFleet()
	})
}

func TestNothingGathersAfterTheEnd(t *testing.T) {
	inVirtualTime(t, newTestStore(), func(r *running) {
		if err, _ := r.stop(); err != nil {
			t.Fatal(err)
		}
		r.HandleEvent(core.BecameLeader{})
		r.changed(core.PodKey{Namespace: "lb", Name: "hap-0"})
		if r.inbox.take() != nil || r.inbox.intake.Due() {
			t.Error("the inbox fills up")
		}
	})
}
