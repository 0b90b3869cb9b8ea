package inputlog

import (
	"fmt"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// Entry is something that a log tells: Started, Step, Stopped or Warning. The set is closed.
type Entry interface{ isEntry() }

// Started tells that a run begins: a replay starts from a fresh state of Run.Config.
type Started struct {
	// Line is the number of the line that tells it, from 1.
	Line int
	Run
	// Restart tells that it is not the first run in this log.
	Restart bool
}

// Step is an input, as it was recorded before it was reduced.
type Step struct {
	Line int
	// Seq numbers the inputs of the log from 1, over all its runs.
	Seq uint64
	// At is the wall time at which the input was taken up.
	At time.Time
	// Input is nil where something was recorded that is no input.
	Input core.Input
	// Digest is that of the effects, as Digester.Sum gives it; empty where the log does not hold
	// it: the program ended before it was written.
	Digest string
}

// Stopped tells that recording had to stop, and why: what followed in this run is not in the log.
type Stopped struct {
	Line   int
	At     time.Time
	Reason string
}

// Warning tells of damage that costs no whole record.
type Warning struct {
	Line int
	Text string
}

func (w Warning) String() string { return fmt.Sprintf("line %d: %s", w.Line, w.Text) }

func (Started) isEntry() {}
func (Step) isEntry()    {}
func (Stopped) isEntry() {}
func (Warning) isEntry() {}
