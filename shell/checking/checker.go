package checking

import (
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core/invariant"
	"github.com/haproxy-discovery/haproxy-discovery/shell"
)

const (
	// checkInterval bounds how long a step waits to be checked while there is time to check it.
	checkInterval = 200 * time.Millisecond
	// drainLimit bounds how long Close goes on checking what waits (R31).
	drainLimit = 100 * time.Millisecond
)

// Checker is the shell.Observer that checks each step. Its counts may be asked for at any time.
type Checker struct {
	logger   *slog.Logger
	violated func(invariant string)

	backlog *backlog
	closing chan struct{}
	closed  chan struct{}
	// late is set when Close waits no longer.
	late atomic.Bool

	// What follows belongs to the goroutine, but for the counts.
	monitor *invariant.Monitor
	broken  bool
	quota   quota
	checked atomic.Uint64

	mu         sync.Mutex
	violations map[string]uint64
}

// New makes a checker, which a component closes when it stops. The logger may be nil. violated, if
// it is not nil, is called for each violation with the name of the invariant, one of
// invariant.Names; it must not block for long, and may come from another goroutine than New.
func New(logger *slog.Logger, violated func(invariant string)) *Checker {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	c := &Checker{
		logger: logger, violated: violated,
		backlog: newBacklog(backlogLimit),
		closing: make(chan struct{}), closed: make(chan struct{}),
		violations: map[string]uint64{},
	}
	for _, name := range invariant.Names() {
		c.violations[name] = 0
	}
	return c
}

// Violations are the numbers of violations so far, by the name of the invariant: all of
// invariant.Names.
func (c *Checker) Violations() map[string]uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	counts := make(map[string]uint64, len(c.violations))
	for name, count := range c.violations {
		counts[name] = count
	}
	return counts
}

// Checked is the number of steps checked so far.
func (c *Checker) Checked() uint64 { return c.checked.Load() }

// Unchecked is the number of steps left out, because the checks had fallen behind or have failed.
func (c *Checker) Unchecked() uint64 { return c.backlog.missed() }

// run checks what is put into the backlog until the checker is closed.
func (c *Checker) run() {
	defer close(c.closed)
	ticker := time.NewTicker(checkInterval)
	defer ticker.Stop()
	for {
		select {
		case <-c.closing:
			c.checkAll()
			return
		case <-c.backlog.filling:
		case <-ticker.C:
		}
		c.checkAll()
	}
}

func (c *Checker) checkAll() {
	for _, item := range c.backlog.take() {
		if c.broken || c.late.Load() {
			c.backlog.miss(1)
			continue
		}
		c.guarded(item)
	}
}

// guarded survives a bug in the checks themselves, and checks no more after it.
func (c *Checker) guarded(item item) {
	defer func() {
		if reason := recover(); reason != nil {
			c.broken = true
			c.backlog.miss(1)
			c.logger.Error("the invariants are checked no more, discovery goes on",
				"seq", item.seq, "error", fmt.Sprintf("panic: %v", reason))
		}
	}()
	c.check(item)
}

func (c *Checker) check(item item) {
	if item.before != nil {
		c.takeUp(item)
	}
	violations := c.monitor.Step(item.input, item.after, item.effects)
	c.checked.Add(1)
	for _, violation := range violations {
		c.tell(item, violation)
	}
}

// takeUp begins with a history, or goes on with it after steps that were left out.
func (c *Checker) takeUp(item item) {
	if c.monitor == nil {
		c.monitor = invariant.NewMonitor(*item.before)
	} else {
		c.monitor.Reset(*item.before)
	}
	if item.missed > 0 && c.quota.allows("fallen behind", item.at) {
		c.logger.Warn("the invariants were not checked for a while: the checks had fallen behind",
			"steps", item.missed, "until_seq", item.seq)
	}
}

func (c *Checker) tell(item item, violation invariant.Violation) {
	c.mu.Lock()
	c.violations[violation.Invariant]++
	c.mu.Unlock()
	if c.violated != nil {
		c.violated(violation.Invariant)
	}
	if !c.quota.allows(violation.Invariant, item.at) {
		return
	}
	c.logger.Error("invariant violated", "invariant", violation.Invariant, "name", violation.Name,
		"detail", violation.Detail, "seq", item.seq, "input", fmt.Sprintf("%T", item.input))
}

// total counts all violations.
func (c *Checker) total() uint64 {
	sum := uint64(0)
	for _, count := range c.Violations() {
		sum += count
	}
	return sum
}

var _ shell.Observer = (*Checker)(nil)
