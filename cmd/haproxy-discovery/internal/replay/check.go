package replay

import (
	"fmt"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/core/invariant"
	"github.com/haproxy-discovery/haproxy-discovery/shell/inputlog"
)

// check judges the steps of a replay: by the invariants, and by the recorded digests.
type check struct {
	failed   func(text string)
	monitor  *invariant.Monitor
	digester *inputlog.Digester
	// seq is the number of the last step, digest that of its effects.
	seq    uint64
	digest string
	// The run that is being checked.
	line           int
	inputs, equals int
}

// begin starts with a run.
func (c *check) begin(line int, state core.State) {
	c.monitor = invariant.NewMonitor(state)
	c.line, c.inputs, c.equals = line, 0, 0
}

// step checks what a step has led to; what was recorded of it comes later.
func (c *check) step(recorded inputlog.Step, after core.State, effects []core.Effect) (ok bool) {
	ok = true
	for _, violation := range c.monitor.Step(recorded.Input, after, effects) {
		ok = false
		c.failed(fmt.Sprintf("seq %d: %v", recorded.Seq, violation))
	}
	c.seq, c.digest = recorded.Seq, c.digester.Sum(effects)
	c.inputs++
	return ok
}

// compare holds the last step against what was recorded of it.
func (c *check) compare(recorded inputlog.Reduced) (ok bool) {
	c.equals++
	if ok = recorded.Seq == c.seq && recorded.Digest == c.digest; !ok {
		c.failed(fmt.Sprintf("seq %d: the effects differ from the recorded ones", recorded.Seq))
	}
	return ok
}

// end judges the run as a whole: where nothing could be compared, nothing was found out (R29b).
func (c *check) end() (ok bool) {
	if c.inputs == 0 || c.equals > 0 {
		return true
	}
	c.failed(fmt.Sprintf("the run that begins in line %d: the log tells of none of its %d inputs what "+
		"it led to, so nothing could be compared", c.line, c.inputs))
	return false
}
