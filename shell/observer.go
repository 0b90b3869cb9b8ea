package shell

import (
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// Observer is the one seam on which recording, metrics and logging hang. Its methods are called
// from the component's loop, in order, and must not block. One that panics is logged and never
// called again; discovery goes on. One that is an io.Closer is closed when the component stops.
type Observer interface {
	// Taken is called before an input is reduced.
	Taken(at time.Time, input core.Input)
	// Reduced is called after it, before the effects are handed out.
	Reduced(step Step)
	// Problem tells what went wrong around the loop.
	Problem(problem Problem)
}

// Step is one step of the loop.
type Step struct {
	// Seq counts the steps of this component, from 1.
	Seq uint64
	// Time is when the input was taken up.
	Time    time.Time
	Input   core.Input
	Before  core.State
	After   core.State
	Effects []core.Effect
	// Took is the time that Reduce has taken.
	Took time.Duration
}

// Problem is something that discovery survives and an operator wants to know.
type Problem struct {
	Kind ProblemKind
	Err  error
}

// ProblemKind says what sort of problem it is; usable as a metric's label.
type ProblemKind string

// The kinds of problems that the component itself meets; adapters that Report have their own.
const (
	StoreUnreadable ProblemKind = "store_unreadable"
	NotAPod         ProblemKind = "not_a_pod"
	InputRefused    ProblemKind = "input_refused"
	UnknownEvent    ProblemKind = "unknown_event"
	ShutdownSlow    ProblemKind = "shutdown_slow"
	BusSubscription ProblemKind = "bus_subscription"
)

// observers calls each observer and drops those that panic.
type observers struct {
	list   []Observer
	logger *slog.Logger
}

func (o *observers) taken(at time.Time, input core.Input) {
	o.each(func(observer Observer) { observer.Taken(at, input) })
}

func (o *observers) reduced(step Step) {
	o.each(func(observer Observer) { observer.Reduced(step) })
}

func (o *observers) problem(problem Problem) {
	o.each(func(observer Observer) { observer.Problem(problem) })
}

// close closes those that want it; what fails there is no failure of discovery.
func (o *observers) close() {
	o.each(func(observer Observer) {
		closer, isCloser := observer.(io.Closer)
		if !isCloser {
			return
		}
		if err := closer.Close(); err != nil {
			o.logger.Error("closing an observer", "observer", fmt.Sprintf("%T", observer), "error", err)
		}
	})
}

func (o *observers) each(call func(Observer)) {
	kept := o.list[:0]
	for _, observer := range o.list {
		if err := guarded(func() { call(observer) }); err != nil {
			o.logger.Error("observer dropped", "observer", fmt.Sprintf("%T", observer), "error", err)
			continue
		}
		kept = append(kept, observer)
	}
	clear(o.list[len(kept):])
	o.list = kept
}

// guarded turns a panic into an error.
func guarded(call func()) (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("panic: %v", reason)
		}
	}()
	call()
	return nil
}
