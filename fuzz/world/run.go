package world

import (
	"fmt"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/core/intake"
	"github.com/haproxy-discovery/haproxy-discovery/core/invariant"
	"github.com/haproxy-discovery/haproxy-discovery/fuzz/oracle"
	"github.com/haproxy-discovery/haproxy-discovery/fuzz/story"
)

// World runs plans, one after the other, and keeps its memory. It is not safe for concurrent use.
type World struct {
	// Log is told the story line by line; nil for silence, which is much faster.
	Log func(format string, args ...any)

	classes  class
	turns    []turn
	noise    noise
	clock    clock
	watchLag time.Duration
	// calm tells that the chaos is over.
	calm bool

	cluster cluster
	oldList []*core.Pod
	probes  []runningProbe
	timers  []core.TimerID

	config      core.ConfigValidated
	credentials int
	configured  bool
	authorized  bool
	storeSet    bool

	intake    intake.Intake
	lookWaits bool
	// stores counts the stores that were set. Of the last one: what it says of its sync, and whether
	// it holds everything that there is. stale has it give an old list once.
	stores        uint64
	storeSays     core.Sync
	storeComplete bool
	stale         bool

	state    core.State
	monitor  *invariant.Monitor
	oracle   *oracle.Oracle
	consumer consumer
	keepsake keepsake

	inputs  int
	failure []string

	// Room for lists that are handed over.
	listed []*core.Pod
	fresh  []core.Endpoint
}

// Inputs counts the inputs reduced in the last run.
func (w *World) Inputs() int { return w.inputs }

// Run plays a plan from the start to the end, and says in words what was wrong in the first step
// that was; nil if nothing was.
func (w *World) Run(plan Plan) []string {
	w.restart(plan)
	w.open(choice(plan.Shape))
	for _, word := range plan.Turns {
		if w.failure != nil {
			break
		}
		w.takeTurn(word)
	}
	if w.failure == nil {
		w.settle()
	}
	if w.failure == nil {
		w.keepsake.check(w)
	}
	return w.failure
}

// pass lets time go on, and happen what happens meanwhile.
func (w *World) pass(time time.Duration) {
	until := w.clock.now + time
	for w.failure == nil {
		h, found := w.clock.next(until)
		if !found {
			return
		}
		w.happen(h)
	}
}

func (w *World) happen(h happening) {
	switch h.kind {
	case podMovesOn:
		w.moveOn(h)
	case podGoes:
		if w.incarnation(h) != nil {
			w.remove(h.slot)
		}
	case podHeals:
		w.heal(h)
	case storeHears:
		w.storeHeard(h)
	case shellHears:
		w.name(h.slot)
	case shellLooks:
		w.lookAtStore()
	case storeRetries:
		w.look(intake.RetryFired{})
	case probeEnds:
		w.probeEnded(core.ProbeID(h.id))
	case timerFires:
		w.timerFired(h)
	case storeSyncs:
		w.storeFilled(h)
	case agentsLearn:
		w.learn(h)
	case tick:
		if !w.calm {
			w.drift()
			w.clock.after(tickInterval, happening{kind: tick})
		}
	}
}

const tickInterval = 20 * time.Second

// step reduces an input, and has everybody look at what came of it.
func (w *World) step(input core.Input) {
	if w.failure != nil {
		return
	}
	w.inputs++
	if w.Log != nil {
		w.Log("%v  %v", w.clock.now, story.InputText{Input: input})
	}
	after, effects := core.Reduce(w.state, input)
	if w.Log != nil {
		for _, effect := range effects {
			w.Log("    %v", story.EffectText{Effect: effect})
		}
	}
	w.keepsake.consider(w, input, after)
	w.state = after
	for _, violation := range w.monitor.Step(input, after, effects) {
		w.fail("%v", violation)
	}
	for _, difference := range w.oracle.Step(input, after, effects) {
		w.fail("oracle: %s", difference)
	}
	w.consume(effects)
	w.perform(effects)
}

func (w *World) fail(format string, args ...any) {
	w.failure = append(w.failure, fmt.Sprintf(format, args...))
}
