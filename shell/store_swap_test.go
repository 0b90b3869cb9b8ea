package shell

import (
	"errors"
	"sync"
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

// What happens when stores are swapped, through the component; core/intake decides it, and its
// stories have the details.

// faultyStore is a store that has not synced, and of which lists and single reads fail apart.
type faultyStore struct {
	*loopback.Store
	listFails, getFails atomic.Bool
}

func newFaultyStore(pods ...string) *faultyStore {
	store := &faultyStore{Store: loopback.NewStore()}
	for _, name := range pods {
		store.Set(loopback.Pod(name, "u-"+name, "10.1.0.10"))
	}
	return store
}

func (s *faultyStore) HasSynced() bool { return false }

func (s *faultyStore) List(selector labels.Selector) ([]runtime.Object, error) {
	if s.listFails.Load() {
		return nil, errors.New("no list")
	}
	return s.Store.List(selector)
}

func (s *faultyStore) Get(key string) (runtime.Object, error) {
	if s.getFails.Load() {
		return nil, errors.New("no pod")
	}
	return s.Store.Get(key)
}

func keyOf(name string) core.PodKey { return core.PodKey{Namespace: "lb", Name: name} }

// withTwoPods runs a component whose fleet are hap-0 and hap-1, from a store that has synced.
func withTwoPods(t *testing.T, test func(r *running)) {
	store := newTestStore(
		loopback.Pod("hap-0", "u-hap-0", "10.1.0.10"), loopback.Pod("hap-1", "u-hap-1", "10.1.0.11"))
	inVirtualTime(t, store, func(r *running) {
		r.expectFleet("u-hap-0", "u-hap-1")
		test(r)
	})
}

// R6, R9: the deletion is told while the list of the new store cannot be read.
func TestDeletionToldWhileTheNewStoreCannotBeListed(t *testing.T) {
	withTwoPods(t, func(r *running) {
		store := newFaultyStore("hap-0")
		store.listFails.Store(true)
		r.SetPodStore(store)
		synctest.Wait()
		r.changed(keyOf("hap-1"))
		r.expectFleet("u-hap-0", "u-hap-1")
		store.listFails.Store(false)
		time.Sleep(intake.RetryDelay)
		r.expectFleet("u-hap-0")
	})
}

// R9: a drift tick comes while a deletion is owed.
func TestOwedDeletionSurvivesADriftTick(t *testing.T) {
	withTwoPods(t, func(r *running) {
		store := newFaultyStore("hap-0")
		r.SetPodStore(store)
		synctest.Wait()
		store.getFails.Store(true)
		r.changed(keyOf("hap-1"))
		synctest.Wait()
		store.getFails.Store(false)
		r.HandleEvent(DriftPreventionTriggered{})
		r.expectFleet("u-hap-0")
	})
}

// slowStore holds up the read of one pod.
type slowStore struct {
	*loopback.Store
	once             sync.Once
	entered, release chan struct{}
}

func (s *slowStore) Get(key string) (runtime.Object, error) {
	s.once.Do(func() {
		close(s.entered)
		<-s.release
	})
	return s.Store.Get(key)
}

// R9: while the loop reads the old store, one pod is named, the store is swapped, and another one is
// named, which the new store lacks.
func TestDeletionInTheNewStoreIsNotReadFromTheOldOne(t *testing.T) {
	withTwoPods(t, func(r *running) {
		old := &slowStore{
			Store:   newFaultyStore("hap-0", "hap-1").Store,
			entered: make(chan struct{}), release: make(chan struct{}),
		}
		r.SetPodStore(old)
		synctest.Wait()
		r.changed(keyOf("slow"))
		<-old.entered
		r.changed(keyOf("hap-0"))
		r.SetPodStore(newFaultyStore("hap-0"))
		r.changed(keyOf("hap-1"))
		close(old.release)
		r.expectFleet("u-hap-0")
	})
}

// bareLister is a store that cannot say whether it has synced, as an informer's lister.
type bareLister struct{ store *loopback.Store }

func (l bareLister) List(selector labels.Selector) ([]runtime.Object, error) {
	return l.store.List(selector)
}

func (l bareLister) Get(key string) (runtime.Object, error) { return l.store.Get(key) }

// R6: the lister of a new informer is swapped in before it has filled; its emptiness says nothing.
func TestEmptyListerSwappedInRetiresNobody(t *testing.T) {
	first := bareLister{newFaultyStore("hap-0", "hap-1").Store}
	inVirtualTime(t, first, func(r *running) {
		r.expectFleet()
		r.HandleEvent(ResourceSyncComplete{Resource: core.HAProxyPods})
		r.expectFleet("u-hap-0", "u-hap-1")

		next := bareLister{newFaultyStore().Store}
		r.SetPodStore(next)
		r.HandleEvent(DriftPreventionTriggered{})
		r.expectFleet("u-hap-0", "u-hap-1")
		r.changed(next.store.Set(loopback.Pod("hap-0", "u-hap-0", "10.1.0.10")))
		r.HandleEvent(ResourceSyncComplete{Resource: core.HAProxyPods})
		r.expectFleet("u-hap-0")
	})
}

// R6: nobody tells the sync of a store that says so itself.
func TestStoreThatHasSyncedMeanwhileIsBelieved(t *testing.T) {
	withTwoPods(t, func(r *running) {
		store := newTestStore(loopback.Pod("hap-0", "u-hap-0", "10.1.0.10"))
		store.synced = false
		r.SetPodStore(store)
		r.HandleEvent(DriftPreventionTriggered{})
		r.expectFleet("u-hap-0", "u-hap-1")
		store.synced = true
		r.HandleEvent(DriftPreventionTriggered{})
		r.expectFleet("u-hap-0")
	})
}

// R9, R48: an event without keys means that any pod may have changed. It is no full pass: what has not
// changed is not told.
func TestEventWithoutKeysComparesTheStore(t *testing.T) {
	store := newTestStore(loopback.Pod("hap-0", "u0", "10.1.0.10"))
	inVirtualTime(t, store, func(r *running) {
		r.expectFleet("u0")
		before := len(r.received())
		r.changed()
		r.expectFleet("u0")
		if after := len(r.received()); after != before {
			t.Errorf("%d events for nothing", after-before)
		}
		store.Remove("hap-0")
		store.Set(loopback.Pod("hap-1", "u1", "10.1.0.11"))
		r.changed()
		r.expectFleet("u1")
	})
}
