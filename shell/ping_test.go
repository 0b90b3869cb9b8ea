package shell

import (
	"context"
	"errors"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
)

// hungStore is one whose List does not return before it is released.
type hungStore struct {
	PodSlice
	asked, release chan struct{}
}

func (s hungStore) List(labels.Selector) ([]runtime.Object, error) {
	s.asked <- struct{}{}
	<-s.release
	return nil, nil
}

// A ping is answered while the loop lives, and only then: not before, not while it hangs in a
// store, not afterwards. Pings that are not answered do not pile up.
func TestPingTellsWhetherTheLoopLives(t *testing.T) {
	r := newRunning(t, New(nil, nil))
	if err := r.Ping(context.Background()); !errors.Is(err, ErrNotRunning) {
		t.Errorf("before Start: %v", err)
	}
	r.begin()
	r.awaitLoop()

	store := hungStore{asked: make(chan struct{}, 1), release: make(chan struct{})}
	r.SetPodStore(store)
	<-store.asked
	for range 100 {
		short, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		if err := r.Ping(short); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("while the store hangs: %v", err)
		}
		cancel()
	}
	r.inbox.mu.Lock()
	if waiting := len(r.inbox.waiting); waiting != 1 {
		t.Errorf("%d entries wait in the inbox", waiting)
	}
	r.inbox.mu.Unlock()
	close(store.release)
	r.awaitLoop()

	if err, _ := r.stop(); err != nil {
		t.Fatal(err)
	}
	if err := r.Ping(context.Background()); !errors.Is(err, ErrNotRunning) {
		t.Errorf("after the end: %v", err)
	}
}

// What an adapter reports reaches the observers, in the loop.
func TestReportedProblemsReachTheObservers(t *testing.T) {
	told := &problemLog{}
	r := newRunning(t, New(nil, nil, WithObserver(told)))
	r.begin()
	r.Report(Problem{Kind: "credentials_unreadable", Err: errors.New("no such Secret")})
	r.Report(Problem{Kind: "credentials_unreadable"})
	r.awaitLoop()
	if told.count("credentials_unreadable") != 2 {
		t.Errorf("told %d times", told.count("credentials_unreadable"))
	}
}
