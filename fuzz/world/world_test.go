package world_test

import (
	"flag"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/haproxy-discovery/haproxy-discovery/fuzz/world"
)

var (
	firstSeed = flag.Int("world.seed", 0, "the first seed to play; 0 takes one from the time")
	duration  = flag.Duration("world.time", 5*time.Second, "for how long to play")
)

// TestWorld plays worlds, each from a seed of its own, on all cores until the time is over. Of a
// seed that fails, rapid then looks for the shortest story. With -rapid.seed, it plays that one.
func TestWorld(t *testing.T) {
	if flag.Lookup("rapid.seed").Value.String() != "0" {
		rapid.Check(t, play)
		return
	}
	s := newSoak(*firstSeed)
	if testing.Short() {
		*duration = min(*duration, time.Second)
	}
	s.run(t, *duration)
	t.Log(s.verdict())
	if s.failed != 0 {
		s.shrink(t)
	}
}

// play tells the story of one plan.
func play(t *rapid.T) {
	w := world.World{Log: t.Logf}
	if failure := w.Run(world.Plans.Draw(t, "plan")); failure != nil {
		t.Fatalf("%s", strings.Join(failure, "\n"))
	}
}

// soak plays one seed after the other.
type soak struct {
	first  int
	begin  time.Time
	next   atomic.Int64
	inputs atomic.Int64

	mu      sync.Mutex
	failed  int
	failure string
}

func newSoak(seed int) *soak {
	s := &soak{first: seed, begin: time.Now()}
	if seed == 0 {
		s.first = int(s.begin.UnixMilli() % 1e12)
	}
	s.next.Store(int64(s.first))
	return s
}

func (s *soak) run(t *testing.T, duration time.Duration) {
	deadline := s.begin.Add(duration)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			var w world.World
			for time.Now().Before(deadline) && !s.hasFailed() {
				s.play(&w, int(s.next.Add(1)-1))
			}
		})
	}
	done := make(chan struct{})
	go func() { workers.Wait(); close(done) }()
	for {
		select {
		case <-done:
			return
		case <-time.After(time.Minute):
			t.Log(s.verdict())
		}
	}
}

func (s *soak) play(w *world.World, seed int) {
	defer func() {
		if panicked := recover(); panicked != nil {
			s.fail(seed, fmt.Sprintf("panic: %v\n%s", panicked, debug.Stack()))
		}
	}()
	failure := w.Run(world.Plans.Example(seed))
	s.inputs.Add(int64(w.Inputs()))
	if failure != nil {
		s.fail(seed, strings.Join(failure, "\n"))
	}
}

// fail keeps the smallest seed that has failed.
func (s *soak) fail(seed int, failure string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed == 0 || seed < s.failed {
		s.failed, s.failure = seed, failure
	}
}

func (s *soak) hasFailed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed != 0
}

// verdict sums up. All seeds before the next one have been taken.
func (s *soak) verdict() string {
	next, inputs := int(s.next.Load()), s.inputs.Load()
	verdict := "everything holds"
	if s.hasFailed() {
		verdict = fmt.Sprintf("seed %d FAILS", s.failed)
	}
	seconds := time.Since(s.begin).Seconds()
	return fmt.Sprintf("%s: seeds %d to %d, %d runs, %d inputs, %.0f a second; next: SEED=%d",
		verdict, s.first, next-1, next-s.first, inputs, float64(inputs)/seconds, next)
}

// shrink plays the seed that failed once more under rapid, which ends the test with the shortest
// story that it finds.
func (s *soak) shrink(t *testing.T) {
	t.Logf("seed %d:\n%s\n\nplay it again: go test ./fuzz/world -run 'TestWorld$' -rapid.seed=%d",
		s.failed, s.failure, s.failed)
	for name, value := range map[string]string{
		"rapid.seed": fmt.Sprint(s.failed), "rapid.checks": "5", "rapid.nofailfile": "true",
	} {
		if err := flag.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	rapid.Check(t, play)
	t.Errorf("seed %d has failed, but does not fail again", s.failed)
}
