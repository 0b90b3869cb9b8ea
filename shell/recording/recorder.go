// Package recording hangs the input log on a component. It stands apart so that programs that do not
// record need not compile the log's codec.
package recording

import (
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell"
	"github.com/haproxy-discovery/haproxy-discovery/shell/inputlog"
)

// Recorder is the shell.Observer that writes the input log.
type Recorder struct{ writer *inputlog.Writer }

// New records to a log that inputlog.Open has opened. The component closes it.
func New(writer *inputlog.Writer) *Recorder { return &Recorder{writer: writer} }

// Taken implements shell.Observer: an input is recorded before it is reduced (R28).
func (r *Recorder) Taken(at time.Time, input core.Input) { r.writer.Append(at, input) }

// Reduced implements shell.Observer.
func (r *Recorder) Reduced(step shell.Step) { r.writer.Effects(step.Effects, step.After) }

// Problem implements shell.Observer: problems are no inputs.
func (r *Recorder) Problem(shell.Problem) {}

// Reopen begins the file anew if it was moved away, and begins recording again if that has stopped.
func (r *Recorder) Reopen() { r.writer.Reopen() }

// Bytes counts what was written to the log so far.
func (r *Recorder) Bytes() int64 { return r.writer.Bytes() }

// Err tells why recording has stopped; nil while it goes on.
func (r *Recorder) Err() error { return r.writer.Err() }

// Close writes what is waiting and the closing record, within half a second.
func (r *Recorder) Close() error { return r.writer.Close() }
