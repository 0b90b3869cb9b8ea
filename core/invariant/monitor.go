package invariant

import (
	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// Monitor checks the transitions of one history, one after the other. It is not safe for concurrent
// use.
//
// Unless it is thorough, a step costs less than what Reduce itself spends on it: it looks at the
// pods that the input names and the effects tell of, in full passes at the unsettled ones too, and
// at the sets that are bounded by Config. Only in a drift tick it looks at the whole state, as far
// as that has changed (see look): what is wrong far from where it happens is found by the next one.
type Monitor struct {
	// whole has each step look at the whole state, pure has it reduced a second time.
	whole, pure bool
	books       books
	before      core.State
	// last is the last look at a whole state, where not each step is one.
	last look
	// past is what before said when it was new; kept by those who check purity.
	past, scratch []byte
	// step is the one under examination and level its state, kept for their memory.
	step  transition
	level level
}

// Option changes what a Monitor does.
type Option func(*Monitor)

// Thorough makes each step look at the whole state and reduce the input a second time.
func Thorough() Option { return func(m *Monitor) { m.whole, m.pure = true, true } }

// Whole makes each step look at the whole state, but leaves purity (I9) unchecked: for who visits
// so many states that a second Reduce for each is too dear.
func Whole() Option { return func(m *Monitor) { m.whole = true } }

// NewMonitor watches a history from the given state on. What was before is taken from what the
// state says.
func NewMonitor(initial core.State, options ...Option) *Monitor {
	m := &Monitor{books: books{
		lives: map[core.PodKey]*life{}, timers: map[core.TimerID]core.PodKey{},
	}}
	for _, option := range options {
		option(m)
	}
	m.Reset(initial)
	return m
}

// Reset forgets the history and watches another one from the given state on, with the same options.
// It costs less than a new monitor.
func (m *Monitor) Reset(initial core.State) {
	m.books.believe(initial)
	m.before = initial
	m.last.valid = false
	if m.pure {
		m.past = appendFingerprint(m.past[:0], initial)
	}
}

// Check looks thoroughly at one transition alone; what was before is believed.
func Check(
	before core.State, input core.Input, after core.State, effects []core.Effect,
) []Violation {
	return NewMonitor(before, Thorough()).Step(input, after, effects)
}

// Check looks at one transition alone, from before to after: a Reset and a Step.
func (m *Monitor) Check(
	before core.State, input core.Input, after core.State, effects []core.Effect,
) []Violation {
	m.Reset(before)
	return m.Step(input, after, effects)
}

// Step checks one transition, from the state of the step before to after. The effects are those
// that came with after. Nil means that everything holds; after a violation the history begins anew.
func (m *Monitor) Step(input core.Input, after core.State, effects []core.Effect) []Violation {
	t := &m.step
	t.begin(m, input, after, effects)
	if m.pure {
		m.checkPurity()
	}
	t.takeInput()
	t.checkNewest()
	t.checkGate()
	t.checkOrder()
	if t.known.gateOpen {
		t.findSubjects()
		t.updateLives()
		t.followEffects()
		t.checkPublished()
		t.checkSubjects()
		t.checkProbes()
		t.checkTimers()
		t.checkProgress()
	}
	if t.whole {
		t.checkWhole(&m.level)
		t.checkTurns()
	}
	if t.whole && !m.whole && t.known.gateOpen {
		m.last.conclude(t)
	}
	m.before = after
	violations := t.end()
	if violations != nil {
		// The books are wrong from here on, which must not be told as more violations.
		m.Reset(after)
	}
	return violations
}
