package status_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell/internal/loopback"
)

// lookers are as many pages as may be open.
const lookers = 64

// Who only looks adds nothing to the step (R14a): with 64 open pages, the end of a pod is told after a
// time of the same order as with none, memory stays bounded, and the loop is found healthy.
func TestOpenPagesDoNotHoldUpTheLoop(t *testing.T) {
	const pods = 3000
	agents := loopback.NewAgents(t)
	agents.Start("127.77.0.1", loopback.Healthy("3.4.3"))
	store := loopback.NewStore()
	for i := range pods {
		store.Set(loopback.Pod(fmt.Sprintf("hap-%04d", i), fmt.Sprint("u", i), "127.77.0.1"))
	}
	s := serve(t)
	s.run(agents.Port, store)
	s.await("the fleet", func(state core.State) bool {
		published, _, _ := state.Published()
		return published.Len() == pods
	})
	rounds := 0
	// As long as several messages to the pages take, in each of which the fleet changes all the time.
	median := func() time.Duration {
		var taken []time.Duration
		for begun := time.Now(); time.Since(begun) < 3*time.Second; rounds++ {
			taken = append(taken, s.replacement(store, fmt.Sprint("r", rounds)))
		}
		slices.Sort(taken)
		return taken[len(taken)/2]
	}
	median() // warms up
	alone := median()

	before := heap()
	for range lookers {
		s.look()
	}
	watched := median()
	grown := int64(heap()) - int64(before)
	begun := time.Now()
	if code, text := s.get("/healthz"); code != http.StatusOK {
		t.Errorf("%d %s", code, text)
	}
	t.Logf("Terminated after %v alone, %v with %d pages open; %d KiB more; healthy after %v",
		alone, watched, lookers, grown>>10, time.Since(begun))
	// Below a millisecond, the scheduler of a busy machine decides.
	if limit := 5 * max(alone, time.Millisecond); watched > limit {
		t.Errorf("with pages open the end of a pod is told after %v, more than %v", watched, limit)
	}
	if grown > 64<<20 {
		t.Errorf("memory grew by %d MiB", grown>>20)
	}
}

// replacement gives the time from the replacement of a pod to the Terminated of its predecessor, and
// waits for the successor to be in the fleet.
func (s *served) replacement(store *loopback.Store, uid string) time.Duration {
	s.t.Helper()
	events := s.Subscribe("deployer")
	defer events.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	key := store.Set(loopback.Pod("hap-0000", uid, "127.77.0.1"))
	begun, took := time.Now(), time.Duration(0)
	s.changed(key)
	for {
		delivery, err := events.Next(ctx)
		if err != nil {
			s.t.Fatalf("waited in vain for %s: %v", uid, err)
		}
		switch e := delivery.Event.(type) {
		case core.HAProxyPodTerminated:
			took = time.Since(begun)
		case core.HAProxyPodsDiscovered:
			if endpoint, found := e.Fleet.Get(key); found && endpoint.UID == uid {
				return took
			}
		}
	}
}

// look opens a page that reads for as long as the test runs, and returns when it has all pods.
func (s *served) look() {
	s.t.Helper()
	transport := &http.Transport{DisableKeepAlives: true}
	response, err := (&http.Client{Transport: transport}).Get(s.url + "/events")
	if err != nil {
		s.t.Fatal(err)
	}
	lines := bufio.NewReader(response.Body)
	for isPrefix := true; isPrefix; {
		if _, isPrefix, err = lines.ReadLine(); err != nil {
			s.t.Fatal(err)
		}
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, lines)
	}()
	s.t.Cleanup(func() {
		_ = response.Body.Close()
		<-ended
	})
}

func heap() uint64 {
	runtime.GC()
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return memory.HeapAlloc
}
