package inputlog

import (
	"fmt"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// Entry is something that a log tells: Started, Snapshot, Step, Reduced, Stopped, Ended or Warning. The
// set is closed.
type Entry interface{ isEntry() }

// Started tells that a run begins: a replay starts from a fresh state of Run.Config.
type Started struct {
	// Line is the number of the line that tells it, from 1.
	Line int
	Run
	// Restart tells that it is not the first run in this log.
	Restart bool
}

// Snapshot tells, right after Started, that the run does not start from a fresh state but from this
// one: what was before is not in this log.
type Snapshot struct {
	Line int
	At   time.Time
	// Last is the number of the last input before; the next step's is one more.
	Last uint64
	// State is restored from the log, with placeholders as passwords.
	State core.State
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
}

// Reduced tells what the last Step led to. It comes with the line after the step's. There is none
// for the last step of a run that was killed, and for one on which the reducer has panicked.
type Reduced struct {
	Line int
	// Seq is the number of the step.
	Seq uint64
	// Digest is that of the effects, as Digester.Sum gives it.
	Digest string
}

// Stopped tells that recording had to stop, and why: what followed in this run is not in the log.
type Stopped struct {
	Line   int
	At     time.Time
	Reason string
	// Lost counts the inputs that were taken for recording and could not be written.
	Lost uint64
}

// Ended tells that a run ends here.
type Ended struct {
	Line int
	// Killed tells that the run has no record of its end: its program was killed, what was to follow
	// is lost, or it is still at work. At is known for the others only.
	Killed bool
	At     time.Time
}

// Warning tells of damage that costs no whole record.
type Warning struct {
	Line int
	Text string
}

func (w Warning) String() string { return fmt.Sprintf("line %d: %s", w.Line, w.Text) }

func (Started) isEntry()  {}
func (Snapshot) isEntry() {}
func (Step) isEntry()     {}
func (Reduced) isEntry()  {}
func (Stopped) isEntry()  {}
func (Ended) isEntry()    {}
func (Warning) isEntry()  {}
