package shell

import (
	"context"
	"fmt"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/core/intake"
	"github.com/haproxy-discovery/haproxy-discovery/effects"
)

// loop is the heart of the component: take an input up, record it, reduce it, hand the effects out
// in order. Everything in it belongs to one goroutine.
type loop struct {
	component *Component
	state     core.State
	seq       uint64

	observers *observers
	probes    *probeRunner
	timers    *effects.Timers

	reader *podReader
}

func newLoop(c *Component) *loop {
	l := &loop{component: c, state: c.State()}
	l.observers = newObservers(
		append([]Observer{logging{c.logger}}, c.options.observers...), &c.turn, c.logger)
	l.reader = newPodReader(l.state.Config().AgentContainer, l.observers.problem)
	l.probes = newProbeRunner(c.prober, l.state.Config().MaxProbes,
		func(finished core.ProbeFinished) { c.inbox.putInput(finished) }, c.Report)
	l.timers = effects.NewTimers(
		func(timer core.TimerID) { c.inbox.putInput(core.TimerFired{Timer: timer}) })
	return l
}

func (l *loop) run(ctx context.Context) error {
	drift, stop := ticks(l.component.driftInterval)
	defer stop()
	inbox := l.component.inbox
	for ctx.Err() == nil {
		if next := inbox.take(); next != nil {
			if err := l.handle(next); err != nil {
				return err
			}
			// A flood of inputs must not starve the drift ticks.
			select {
			case <-drift:
				inbox.ask(intake.DriftTick{})
			default:
			}
			continue
		}
		select {
		case <-ctx.Done():
		case <-drift:
			inbox.ask(intake.DriftTick{})
		case <-inbox.wake:
		}
	}
	return nil
}

func ticks(interval time.Duration) (ticks <-chan time.Time, stop func()) {
	if interval <= 0 {
		return nil, func() {}
	}
	ticker := time.NewTicker(interval)
	return ticker.C, ticker.Stop
}

func (l *loop) handle(next any) error {
	switch request := next.(type) {
	case core.Input:
		if finished, isProbe := request.(core.ProbeFinished); isProbe {
			l.probes.Forget(finished.Probe)
		}
		return l.step(request)
	case lookAtStore:
		return l.lookAtStore()
	case Problem:
		l.observers.problem(request)
	case ping:
		close(request.answered)
	}
	return nil
}

// lookAtStore does what the intake asks for, until it has had its turn. The store is read here, not
// beside the loop: a reader of pods waits for nothing but its own cache.
func (l *loop) lookAtStore() error {
	inbox := l.component.inbox
	for {
		action, store := inbox.next(l.state)
		switch a := action.(type) {
		case nil:
			return nil
		case intake.ReadList:
			inbox.answer(l.reader.readList(store, a))
		case intake.ReadPods:
			inbox.answer(l.reader.readPods(store, a))
		case intake.StartRetry:
			time.AfterFunc(a.After, func() { inbox.ask(intake.RetryFired{}) })
		case intake.Tell:
			if err := l.step(a.Input); err != nil {
				return err
			}
		}
	}
}

// step takes one input up.
func (l *loop) step(input core.Input) error {
	at := time.Now()
	l.seq++
	l.observers.taken(at, input)
	before, begun := l.state, time.Now()
	var produced []core.Effect
	err := guarded(func() { l.state, produced = l.component.reduce(before, input) })
	if err != nil {
		l.component.turn.leave("the logger")
		l.component.logger.Error("the reducer panicked", "seq", l.seq, "error", err)
		l.component.turn.comeBack()
		return fmt.Errorf("%w at input %d (%T): %w", ErrReducerPanicked, l.seq, input, err)
	}
	after, took := l.state, time.Since(begun)
	l.component.state.Store(&after)
	l.observers.reduced(Step{
		Seq: l.seq, Time: at, Took: took,
		Step: core.Step{Before: before, Input: input, After: after, Effects: produced},
	})
	for _, effect := range produced {
		l.perform(at, effect)
	}
	return nil
}

func (l *loop) perform(at time.Time, effect core.Effect) {
	switch e := effect.(type) {
	case core.StartProbe:
		l.probes.Start(e)
	case core.CancelProbe:
		l.probes.Cancel(e.Probe)
	case core.StartTimer:
		l.timers.Start(e.Timer, e.After)
	case core.StopTimer:
		l.timers.Stop(e.Timer)
	case core.Publish:
		for _, dropped := range l.component.publisher.Publish(at, e.Event) {
			l.observers.problem(l.component.dropped(dropped))
		}
	case core.Refuse:
		l.observers.problem(Problem{InputRefused, fmt.Errorf("seq %d: %s", l.seq, e.Reason)})
	}
}
