package shell

import (
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// problemLog keeps the problems and counts the steps that it observes.
type problemLog struct {
	mu      sync.Mutex
	kinds   map[ProblemKind]int
	reduced int
}

func (p *problemLog) Taken(time.Time, core.Input) {}

func (p *problemLog) Reduced(Step) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reduced++
}

func (p *problemLog) Problem(problem Problem) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.kinds == nil {
		p.kinds = map[ProblemKind]int{}
	}
	p.kinds[problem.Kind]++
}

func (p *problemLog) count(kind ProblemKind) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.kinds[kind]
}

func (p *problemLog) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.kinds)
}

func (p *problemLog) await(t *testing.T, kind ProblemKind) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for p.count(kind) == 0 {
		if time.Now().After(deadline) {
			t.Fatalf("no problem %s", kind)
		}
		time.Sleep(time.Millisecond)
	}
}

type panickingObserver struct {
	problemLog
	calls int
}

func (p *panickingObserver) Taken(time.Time, core.Input) {
	p.calls++
	panic("an observer's bug")
}

type closingObserver struct {
	problemLog
	taken, closed int
}

func (c *closingObserver) Taken(time.Time, core.Input) { c.taken++ }

func (c *closingObserver) Close() error {
	c.closed++
	return nil
}

func textLogger(w io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug}))
}
