package invariant

import (
	"slices"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// transition is one step under examination.
type transition struct {
	*books
	findings
	// whole tells that the step looks at the whole state, partial that it leaves out the pods that
	// are as the last look has found them.
	whole   bool
	partial bool
	last    *look
	before  core.State
	input   core.Input
	after   core.State
	effects []core.Effect

	// fullPass tells that the step looks at every pod (R7).
	fullPass bool
	// finished is the probe whose place the input frees, if it does; failed tells that it brought
	// its candidate a failure that counts (R24), updated that it told another version of an endpoint
	// that is published.
	finished probe
	finishes bool
	failed   bool
	// judged tells that its result is a verdict on its candidate.
	judged  bool
	updated bool
	// fired tells that the input is a timer that was armed; firedKey is the pod of a retry timer.
	fired    bool
	firedKey core.PodKey

	// touched are the keys of the pods to look at, subjects these pods, both in the order of the
	// keys.
	touched  []core.PodKey
	subjects []subject

	// What the effects have told so far.
	terminated int
	replays    int
	publishes  bool

	started []core.StartTimer
}

// maxKept bounds the memory that is kept between steps, in pods.
const maxKept = 256

// begin takes the step up, with the memory of the one before.
func (t *transition) begin(
	m *Monitor, input core.Input, after core.State, effects []core.Effect,
) {
	*t = transition{
		books: &m.books, last: &m.last, whole: m.whole,
		before: m.before, input: input, after: after, effects: effects,
		touched: t.touched[:0], subjects: t.subjects[:0], started: t.started[:0],
	}
}

// end lets go of what the step has looked at.
func (t *transition) end() []Violation {
	violations := t.violations
	clear(t.touched)
	clear(t.subjects)
	*t = transition{touched: t.touched, subjects: t.subjects, started: t.started}
	if cap(t.subjects) > maxKept {
		t.touched, t.subjects = nil, nil
	}
	return violations
}

// followEffects brings the books up to date, effect by effect.
func (t *transition) followEffects() {
	for _, effect := range t.effects {
		switch e := effect.(type) {
		case core.CancelProbe:
			t.cancelProbe(e)
		case core.StartProbe:
			t.startProbe(e)
		case core.StartTimer:
			t.startTimer(e)
		case core.StopTimer:
			t.stopTimer(e)
		case core.Publish:
			t.followEvent(e.Event)
		}
	}
}

func (t *transition) followEvent(event core.Event) {
	switch e := event.(type) {
	case core.HAProxyPodRejected:
		t.subject(e.Key()).rejected = &e
	case core.HAProxyPodTerminated:
		t.terminate(e)
	case core.HAProxyPodsDiscovered:
		if e.Replay {
			t.replay(e)
		} else {
			t.discover(e)
		}
	}
}

// subject finds a pod that is looked at: every pod that the input or an effect names is.
func (t *transition) subject(key core.PodKey) *subject {
	if len(t.subjects) == 1 {
		return &t.subjects[0]
	}
	index, _ := slices.BinarySearchFunc(t.subjects, key,
		func(s subject, key core.PodKey) int { return s.key.Compare(key) })
	return &t.subjects[index]
}
