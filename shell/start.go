package shell

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// The limits of the end, which has a second in all (R31).
const (
	// shutdownLimit is for the loop, the probes and the bus.
	shutdownLimit = 400 * time.Millisecond
	// closeLimit is for the observers after that.
	closeLimit = 400 * time.Millisecond
)

// ErrStarted is returned by a second Start.
var ErrStarted = errors.New("the component was started before")

// ErrReducerPanicked is wrapped by Start's error after a bug in the reducer (R32): the component
// never goes on from a state nobody reduced.
var ErrReducerPanicked = errors.New("the reducer panicked")

// ErrStorePanicked, ErrBusPanicked and ErrBusLagging are wrapped by Start's error after a panic in
// the pod store (a nil pointer given as one, for instance) or in the bus, or when the bus has left
// more than 10,000 terminations untaken (R30): what follows would be wrong, or not heard.
var (
	ErrStorePanicked = errors.New("the pod store panicked")
	ErrBusPanicked   = errors.New("the bus panicked")
	ErrBusLagging    = errors.New("the bus takes no events")
)

// Start runs the component until ctx ends, and returns nil then: probes are cancelled, observers
// closed, all goroutines gone, within a second (R31). A store, a bus, a prober or an observer that
// does not come back by then is reported (ShutdownSlow) and left behind; nothing comes of it any
// more. It returns an error when the reducer, the store or the bus panics (ErrReducerPanicked,
// ErrStorePanicked, ErrBusPanicked), when the bus takes nothing (ErrBusLagging), and on a second
// call (ErrStarted).
func (c *Component) Start(ctx context.Context) error {
	if !c.started.CompareAndSwap(false, true) {
		return ErrStarted
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.failed, cancel)()
	loop := newLoop(c)
	forwarded := c.forwardToBus()
	var loopErr error
	go func() {
		defer close(c.looped)
		c.turn.mu.Lock()
		defer c.turn.mu.Unlock()
		if err := guarded(func() { loopErr = loop.run(ctx) }); err != nil {
			loopErr = fmt.Errorf("the loop: %w", err)
		}
	}()
	select {
	case <-c.looped:
	case <-ctx.Done():
	}
	slow := c.stop(loop, forwarded)
	c.endObservers(loop.observers, slow)
	select {
	case <-c.looped:
		return errors.Join(loopErr, context.Cause(c.failed))
	default:
		return context.Cause(c.failed)
	}
}

// stop ends all but the observers, and tells what does not end.
func (c *Component) stop(loop *loop, forwarded <-chan struct{}) (slow []Problem) {
	deadline, cancel := context.WithTimeout(context.Background(), shutdownLimit)
	defer cancel()
	c.inbox.close()
	unsubscribed := c.endSubscription()
	busy := func(name string) {
		slow = append(slow, Problem{ShutdownSlow, fmt.Errorf("%s still busy, left behind", name)})
	}
	if !endsBy(deadline, c.looped) {
		if where := c.turn.abandon(); where != "" {
			busy(where)
		} else {
			<-c.looped // it was about to end
		}
	}
	close(c.ended)
	loop.timers.Close()
	c.publisher.Close()
	if c.toBus != nil {
		c.toBus.Close()
	}
	for _, activity := range []struct {
		name string
		done <-chan struct{}
	}{
		{"probes", loop.probes.Close()}, {"the bus", forwarded}, {"the bus's unsubscribe", unsubscribed},
	} {
		if !endsBy(deadline, activity.done) {
			busy(activity.name)
		}
	}
	return slow
}

// endObservers tells them what was left behind and closes them. Those that hang are logged, if the
// logger does not.
func (c *Component) endObservers(observers *observers, slow []Problem) {
	deadline, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	if hanging := observers.end(deadline, slow); len(hanging) > 0 {
		go logging{c.logger}.Problem(Problem{ShutdownSlow,
			fmt.Errorf("closing %s still busy, left behind", strings.Join(hanging, ", "))})
	}
}

// endsBy waits for the end of an activity; one that has ended by then is not missed.
func endsBy(deadline context.Context, done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	case <-deadline.Done():
	}
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// endSubscription has a goroutine of its own: buses wait for their handlers there.
func (c *Component) endSubscription() <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		if c.unsubscribe == nil {
			return
		}
		if err := guarded(c.unsubscribe); err != nil {
			c.fail(fmt.Errorf("%w: unsubscribing: %w", ErrBusPanicked, err))
		}
	}()
	return done
}

// forwardToBus makes the bus one of the subscribers: one that blocks holds up nobody else.
func (c *Component) forwardToBus() <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for c.toBus != nil {
			delivery, err := c.toBus.Next(context.Background())
			if err != nil {
				return // who lags was told of when it was dropped
			}
			if err := guarded(func() { c.bus.Publish(delivery.Event) }); err != nil {
				c.fail(fmt.Errorf("%w: publishing: %w", ErrBusPanicked, err))
				return
			}
		}
	}()
	return done
}
