package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/samber/lo"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// Observer is the one seam on which recording, metrics and logging hang. Its methods are called
// from the component's loop, in order, and must not block. One that panics is logged, closed and never
// called again; discovery goes on. One that is an io.Closer is closed when the component stops, side
// by side with the others; one that the loop has not come back from is not.
type Observer interface {
	// Taken is called before an input is reduced.
	Taken(at time.Time, input core.Input)
	// Reduced is called after it, before the effects are handed out.
	Reduced(step Step)
	// Problem tells what went wrong around the loop.
	Problem(problem Problem)
}

// ComponentObserver is an Observer that wants to know whom it observes, to ask it questions later:
// New calls Observes once, before it returns.
type ComponentObserver interface {
	Observer
	Observes(component *Component)
}

// Step is one step of the loop.
type Step struct {
	// Seq counts the steps of this component, from 1.
	Seq uint64
	// Time is when the input was taken up.
	Time time.Time
	core.Step
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
	// UnknownResource is an index event or a sync of a resource that discovery has no use for.
	UnknownResource ProblemKind = "unknown_resource"
	// ProberPanicked counts as a failed probe.
	ProberPanicked ProblemKind = "prober_panicked"
	// SubscriberDropped is a subscriber that has left 10,000 terminations unread (R30).
	SubscriberDropped ProblemKind = "subscriber_dropped"
)

// observers calls each observer, and drops and closes those that panic. It belongs to the loop, and
// to Start once the loop has ended or was abandoned.
type observers struct {
	list   []*observed
	turn   *turn
	logger *slog.Logger
	// current is the observer that the loop is in; nil while it is in none.
	current *observed
}

// observed is one observer and what has become of it.
type observed struct {
	Observer
	// closed is closed once the observer is; nil while it is called.
	closed chan struct{}
}

func newObservers(list []Observer, turn *turn, logger *slog.Logger) *observers {
	return &observers{
		list:   lo.Map(list, func(o Observer, _ int) *observed { return &observed{Observer: o} }),
		turn:   turn,
		logger: logger,
	}
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

func (o *observers) each(call func(Observer)) {
	for _, observer := range o.list {
		if observer.closed != nil {
			continue
		}
		o.current = observer
		o.turn.leave(observer.name())
		err := guarded(func() { call(observer.Observer) })
		if err != nil {
			o.logger.Error("observer dropped", "observer", observer.name(), "error", err)
		}
		o.turn.comeBack()
		o.current = nil
		if err != nil {
			o.close(observer)
		}
	}
}

// close has a goroutine of its own do it: the loop waits for nobody, and last may be what else there
// is to tell. What fails there is no failure of discovery.
func (o *observers) close(observer *observed, last ...Problem) {
	observer.closed = make(chan struct{})
	go func() {
		defer close(observer.closed)
		err := guarded(func() {
			for _, problem := range last {
				observer.Problem(problem)
			}
		})
		if closer, isCloser := observer.Observer.(io.Closer); isCloser {
			var failed error
			err = errors.Join(err, guarded(func() { failed = closer.Close() }), failed)
		}
		if err != nil {
			o.logger.Error("closing an observer", "observer", observer.name(), "error", err)
		}
	}()
}

// end tells the last problems and closes all that are left, side by side: one that hangs holds up no
// other. An observer that the loop has not come back from cannot be closed. It names those that
// hang at the deadline.
func (o *observers) end(deadline context.Context, last []Problem) (hanging []string) {
	for _, observer := range o.list {
		if observer.closed == nil && observer != o.current {
			o.close(observer, last...)
		}
	}
	for _, observer := range o.list {
		if observer != o.current && !endsBy(deadline, observer.closed) {
			hanging = append(hanging, observer.name())
		}
	}
	return hanging
}

func (o *observed) name() string { return fmt.Sprintf("%T", o.Observer) }

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
