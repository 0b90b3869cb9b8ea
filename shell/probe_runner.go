package shell

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// Prober performs one probe. effects.Prober is the real one.
type Prober interface {
	// Probe asks the agent and gives up after probe.Timeout, or when ctx ends.
	Probe(ctx context.Context, probe core.StartProbe) core.Outcome
}

// probeRunner runs probes in an errgroup with a limit. The reducer never has more outstanding than
// that, but a goroutine lives a little longer than its probe, and errgroup.Go then waits: a
// goroutine of the runner's own does that waiting, so that the loop never blocks.
type probeRunner struct {
	prober   Prober
	finished func(core.ProbeFinished)
	report   func(Problem)

	ctx    context.Context
	cancel context.CancelFunc
	start  chan runningProbe
	done   chan struct{}
	// cancels belongs to the loop.
	cancels map[core.ProbeID]context.CancelFunc
}

type runningProbe struct {
	ctx   context.Context
	probe core.StartProbe
}

func newProbeRunner(
	prober Prober, limit int, finished func(core.ProbeFinished), report func(Problem),
) *probeRunner {
	ctx, cancel := context.WithCancel(context.Background())
	r := &probeRunner{
		prober: prober, finished: finished, report: report,
		ctx: ctx, cancel: cancel,
		start:   make(chan runningProbe, limit),
		done:    make(chan struct{}),
		cancels: map[core.ProbeID]context.CancelFunc{},
	}
	go r.run(limit)
	return r
}

func (r *probeRunner) run(limit int) {
	defer close(r.done)
	var group errgroup.Group
	group.SetLimit(limit)
	for running := range r.start {
		group.Go(func() error {
			r.probe(running)
			return nil
		})
	}
	_ = group.Wait()
}

// probe always ends with a result, else its place would never fall free: a prober that panics, ends
// its goroutine or returns nothing has failed. What a panic says is not told, it may hold a secret.
func (r *probeRunner) probe(running runningProbe) {
	outcome := core.Outcome(core.Failure{Cause: core.CauseOther, Detail: "the prober has no outcome"})
	defer func() {
		r.finished(core.ProbeFinished{Probe: running.probe.Probe, Outcome: outcome})
	}()
	defer func() {
		if recover() != nil {
			outcome = core.Failure{Cause: core.CauseOther, Detail: "the prober panicked"}
			r.report(Problem{ProberPanicked, fmt.Errorf("%T panicked: a failed probe", r.prober)})
		}
	}()
	if answer := r.prober.Probe(running.ctx, running.probe); answer != nil {
		outcome = answer
	}
}

// Start, Cancel and Forget are called by the loop only.

func (r *probeRunner) Start(probe core.StartProbe) {
	ctx, cancel := context.WithCancel(r.ctx)
	r.cancels[probe.Probe] = cancel
	r.start <- runningProbe{ctx, probe}
}

func (r *probeRunner) Cancel(id core.ProbeID) {
	if cancel, found := r.cancels[id]; found {
		cancel()
	}
}

// Forget releases what belongs to a probe that has finished.
func (r *probeRunner) Forget(id core.ProbeID) {
	r.Cancel(id)
	delete(r.cancels, id)
}

// Close cancels all probes; the channel is closed when the last one has ended.
func (r *probeRunner) Close() <-chan struct{} {
	r.cancel()
	close(r.start)
	return r.done
}
