package checking

import (
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell"
)

// Taken implements shell.Observer.
func (c *Checker) Taken(time.Time, core.Input) {}

// Problem implements shell.Observer: problems are no steps.
func (c *Checker) Problem(shell.Problem) {}

// Reduced implements shell.Observer. It costs the loop no more than a copy of the step.
func (c *Checker) Reduced(step shell.Step) {
	if c.backlog.put(&step) {
		go c.run()
	}
}

// Close checks what waits, for a tenth of a second at most, and says in one line how much was
// checked. A component calls it when it stops.
func (c *Checker) Close() error {
	if !c.backlog.close() {
		return nil
	}
	close(c.closing)
	timer := time.AfterFunc(drainLimit, func() { c.late.Store(true) })
	<-c.closed
	timer.Stop()
	c.logger.Info("the invariants were checked",
		"steps", c.Checked(), "violations", c.total(), "unchecked", c.Unchecked())
	return nil
}
