package shell

import (
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell/inputlog"
)

// Recorder is the observer that writes the input log.
type Recorder struct{ writer *inputlog.Writer }

// NewRecorder records to a log that inputlog.Open has opened. The component closes it.
func NewRecorder(writer *inputlog.Writer) *Recorder { return &Recorder{writer: writer} }

// Taken implements Observer: an input is recorded before it is reduced (R28).
func (r *Recorder) Taken(at time.Time, input core.Input) { r.writer.Append(at, input) }

// Reduced implements Observer.
func (r *Recorder) Reduced(step Step) { r.writer.Effects(step.Effects) }

// Problem implements Observer: problems are no inputs.
func (r *Recorder) Problem(Problem) {}

// Close writes what is waiting and the closing record, within half a second.
func (r *Recorder) Close() error { return r.writer.Close() }
