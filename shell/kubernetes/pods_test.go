package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/haproxy-discovery/haproxy-discovery/shell"
)

// followed is a running Pods and what it has told.
type followed struct {
	*Pods
	server *apiServer
	stop   func() time.Duration

	mu   sync.Mutex
	told []string
}

func (s *apiServer) pod(name, uid string) {
	s.set(collectionOf+"pods/"+name, map[string]any{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{
			"namespace": "lb", "name": name, "uid": uid, "annotations": map[string]any{"note": "long"},
		},
		"status": map[string]any{"phase": "Running", "podIP": "10.1.0.10"},
	})
}

func followPods(t *testing.T, s *apiServer) *followed {
	return followWithin(t, s, defaultWatchLimits)
}

func followWithin(t *testing.T, s *apiServer, limits watchLimits) *followed {
	f := newFollowed(s)
	f.listWatch.limits = limits
	f.run(t)
	return f
}

// newFollowed does not run yet.
func newFollowed(s *apiServer) *followed {
	return &followed{server: s, Pods: NewPods(s.cluster, "app=haproxy", s.log.logger())}
}

func (f *followed) run(t *testing.T) {
	f.stop = running(t, func(ctx context.Context) error { return f.Run(ctx, f.handle) })
}

// running runs something until the test's end or until it is stopped; the time that took is given.
func running(t *testing.T, run func(context.Context) error) (stop func() time.Duration) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }()
	stop = sync.OnceValue(func() time.Duration {
		begun := time.Now()
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(patience):
			t.Error("has not ended")
		}
		return time.Since(begun)
	})
	t.Cleanup(func() { stop() })
	return stop
}

func (f *followed) handle(event any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch e := event.(type) {
	case shell.ResourceIndexUpdated:
		f.told = append(f.told, fmt.Sprint(e.Keys))
	case shell.ResourceSyncComplete:
		f.told = append(f.told, "synced")
	default:
		f.told = append(f.told, fmt.Sprintf("%T", event))
	}
}

// expect waits for what is told next, in any order, and that it is all.
func (f *followed) expect(t *testing.T, want ...string) {
	t.Helper()
	slices.Sort(want)
	var got []string
	await(t, fmt.Sprint(want), f.server.log, func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		got = slices.Sorted(slices.Values(f.told))
		return len(got) >= len(want)
	})
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.told = nil; !slices.Equal(got, want) {
		t.Errorf("told %v, want %v", got, want)
	}
}

func (f *followed) uids(t *testing.T) string {
	t.Helper()
	objects, err := f.List(labels.Everything())
	if err != nil {
		t.Fatal(err)
	}
	var uids []string
	for _, object := range objects {
		uids = append(uids, string(object.(*unstructured.Unstructured).GetUID()))
	}
	slices.Sort(uids)
	return strings.Join(uids, " ")
}

// Pods are streamed or, by a server that cannot do that, listed; changes are named, heartbeats are
// not; what was missed meanwhile is made up for; the sync is told once.
func TestPodsAreFollowed(t *testing.T) {
	t.Parallel()
	for name, streaming := range map[string]int{"streamed": 0, "listed": http.StatusUnprocessableEntity} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newAPIServer(t)
			s.answer("stream", streaming)
			s.pod("haproxy-0", "u0")
			s.pod("haproxy-1", "u1")
			f := followPods(t, s)
			if view := f.View(); view.Synced && view.LastContact.IsZero() {
				t.Errorf("synced without contact: %+v", view)
			}
			f.expect(t, "[lb/haproxy-0]", "[lb/haproxy-1]", "synced")
			await(t, "a watch", s.log, func() bool { return f.View().Connected })

			s.pod("haproxy-0", "u0") // a heartbeat
			s.pod("haproxy-1", "u2")
			f.expect(t, "[lb/haproxy-1]")
			if got := f.uids(t); got != "u0 u2" {
				t.Errorf("the store holds %s", got)
			}
			object, err := f.Get("lb/haproxy-1")
			if err != nil || object.(*unstructured.Unstructured).GetAnnotations() != nil {
				t.Errorf("%v, %v is not trimmed", object, err)
			}
			s.remove(collectionOf + "pods/haproxy-0")
			f.expect(t, "[lb/haproxy-0]")

			// The server has forgotten what there was to watch: what is gone becomes a tombstone.
			s.mu.Lock()
			delete(s.objects, collectionOf+"pods/haproxy-1")
			s.mu.Unlock()
			s.forget()
			s.cutWatches()
			f.expect(t, "[lb/haproxy-1]")
			s.pod("haproxy-2", "u3")
			f.expect(t, "[lb/haproxy-2]")
			if view := f.View(); view.Resource != "pods" || !view.Synced || view.LastError != "" {
				t.Errorf("view %+v", view)
			}
			if s.log.count("no contact") > 0 {
				t.Errorf("part of the protocol was taken for a failure:\n%s", s.log)
			}
		})
	}
}

// Contact that is lost is told once and shown with its age; the store stays as it was.
func TestViewWhileTheServerIsGone(t *testing.T) {
	t.Parallel()
	s := newAPIServer(t)
	s.pod("haproxy-0", "u0")
	f := followPods(t, s)
	f.expect(t, "[lb/haproxy-0]", "synced")
	await(t, "a watch", s.log, func() bool { return f.View().Connected })
	if age := f.View().Age(time.Now()); age != 0 {
		t.Errorf("age %v while connected", age)
	}
	before := time.Now()
	s.CloseClientConnections()
	s.Close()
	await(t, "the loss", s.log, func() bool { return s.log.count("no contact") == 1 })
	view := f.View()
	if view.Connected || !view.Synced || !strings.Contains(view.LastError, "refused") ||
		view.LastContact.Before(before.Add(-time.Second)) {
		t.Errorf("view %+v", view)
	}
	if age := view.Age(view.LastContact.Add(time.Minute)); age != time.Minute {
		t.Errorf("age %v after a minute", age)
	}
	if got := f.uids(t); got != "u0" {
		t.Errorf("the store holds %q", got)
	}
	s.pod("haproxy-0", "u1")
	s.restart(t)
	f.expect(t, "[lb/haproxy-0]")
	await(t, "contact", s.log, func() bool { return f.View().Connected && f.View().LastError == "" })
	for _, once := range []string{"no contact", "contact with the API server again", "initial pods"} {
		if n := s.log.count(once); n != 1 {
			t.Errorf("%q was logged %d times:\n%s", once, n, s.log)
		}
	}
}

// What is not permitted is named; while it lasts nothing else is said, and lists that still are
// permitted count as contact.
func TestViewWhileWatchesAreForbidden(t *testing.T) {
	t.Parallel()
	s := newAPIServer(t)
	s.answer("watch", http.StatusForbidden)
	s.pod("haproxy-0", "u0")
	f := followPods(t, s)
	f.expect(t, "[lb/haproxy-0]", "synced")
	listed := f.View().LastContact
	await(t, "the next list", s.log, func() bool { return f.View().LastContact.After(listed) })
	view := f.View()
	if view.Connected || !strings.Contains(view.LastError, "watch pods in namespace lb at "+s.URL) ||
		!strings.Contains(view.LastError, "grant it") || s.log.count("no contact") != 1 {
		t.Errorf("view %+v, logged:\n%s", view, s.log)
	}
	err := f.Check(t.Context())
	var failure *Failure
	if !errors.As(err, &failure) || failure.Unreachable() || !strings.Contains(err.Error(), "watch pods") {
		t.Errorf("check: %v", err)
	}
	s.answer("list", http.StatusForbidden)
	if err := f.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "list pods") {
		t.Errorf("check: %v", err)
	}
}

// R31: everything ends within a second, whatever the server does; the goroutines too.
func TestEndsWithinASecond(t *testing.T) {
	t.Parallel()
	for name, trouble := range map[string]func(s *apiServer){
		"connected":   func(*apiServer) {},
		"unreachable": func(s *apiServer) { s.CloseClientConnections(); s.Close() },
		"hung":        func(s *apiServer) { s.hanging(true) },
		"busy":        func(s *apiServer) { s.answer("watch", http.StatusTooManyRequests) },
		"forbidden":   func(s *apiServer) { s.answer("watch", http.StatusForbidden) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newAPIServer(t)
			trouble(s)
			f := followPods(t, s)
			if name == "connected" {
				f.expect(t, "synced")
			} else if name != "hung" {
				await(t, "the failure", s.log, func() bool { return f.View().LastError != "" })
			}
			if took := f.stop(); took > time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

// The age of a view that never was is negative: there is nothing to be old.
func TestAgeBeforeTheFirstContact(t *testing.T) {
	t.Parallel()
	s := newAPIServer(t)
	if age := NewPods(s.cluster, "", nil).View().Age(time.Now()); age >= 0 {
		t.Errorf("age %v", age)
	}
}

var _ shell.PodStore = (*Pods)(nil)
