package invariant_test

import (
	"iter"
	"slices"
	"testing"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/core/invariant"
)

// twins are two monitors of one history, of which one looks at each pod in each drift tick. They see
// the same.
type twins struct {
	t             *testing.T
	what          string
	partial, full *invariant.Monitor
	state         core.State
	// partly counts the drift ticks in which one of the two left pods out.
	partly int
	seen   []invariant.Violation
}

func newTwins(t *testing.T, what string, state core.State) *twins {
	return &twins{t: t, what: what, state: state,
		partial: invariant.NewMonitor(state), full: invariant.NewMonitor(state)}
}

// step gives what they see.
func (w *twins) step(input core.Input, o outcome) []invariant.Violation {
	w.t.Helper()
	w.full.LeaveNobodyOut()
	if _, isDrift := input.(core.DriftPreventionTriggered); isDrift && !w.partial.LooksAtAll() {
		w.partly++
	}
	want := w.full.Step(input, o.after, o.effects)
	if got := w.partial.Step(input, o.after, o.effects); !slices.Equal(broken(got), broken(want)) {
		w.t.Errorf("%s: after %T it sees %v instead of %v", w.what, input, got, want)
	}
	w.state, w.seen = o.after, append(w.seen, want...)
	return want
}

// broken are the invariants that violations are of. What is wrong with the fleet as a whole may be
// told of each of its pods as well.
func broken(violations []invariant.Violation) []string {
	var names []string
	for _, v := range violations {
		names = append(names, v.Invariant)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (w *twins) honest(input core.Input) []invariant.Violation {
	w.t.Helper()
	after, effects := core.Reduce(w.state, input)
	return w.step(input, outcome{before: w.state, after: after, effects: effects})
}

// tick is a drift tick that finds the facts as they were. Of what a doctor has left, the reducer may
// not even make a step.
func (w *twins) tick() []invariant.Violation {
	w.t.Helper()
	tick := drift(slices.Collect(pods(w.state))...)
	if !survives(w.state, tick) {
		return nil
	}
	return w.honest(tick)
}

func pods(state core.State) iter.Seq[*core.Pod] {
	return func(yield func(*core.Pod) bool) {
		for standing := range state.Standings() {
			if !yield(standing.Pod) {
				return
			}
		}
	}
}

func survives(state core.State, input core.Input) (survives bool) {
	defer func() { survives = recover() == nil }()
	core.Reduce(state, input)
	return true
}

// TestDriftTicksThatLeavePodsOutSeeTheSame: a step is doctored between drift ticks, or is one. What a
// look at every pod sees, then or in the next tick, the look at what has changed sees as well.
func TestDriftTicksThatLeavePodsOutSeeTheSame(t *testing.T) {
	partly, seen := 0, 0
	for _, d := range slices.Concat(doctoredStories, honestStories) {
		w := newTwins(t, d.name, core.New(caps))
		for _, input := range d.story[:len(d.story)-1] {
			w.honest(input)
		}
		w.partial.Reset(w.state) // both believe what there is
		w.full.Reset(w.state)
		w.look()
		last := d.story[len(d.story)-1]
		after, effects := core.Reduce(w.state, last)
		o := outcome{before: w.state, after: after, effects: slices.Clone(effects)}
		if d.doctor != nil {
			d.doctor(&o)
		}
		violations := w.step(last, o)
		for range 2 {
			violations = append(violations, w.tick()...)
		}
		if violations != nil {
			seen++
		}
		partly += w.partly
	}
	if partly == 0 || seen == 0 {
		t.Errorf("pods were left out %d times, violations seen in %d stories", partly, seen)
	}
}

// look lets both look at a state that is right.
func (w *twins) look() {
	w.t.Helper()
	if violations := w.tick(); violations != nil {
		w.t.Fatalf("%s: %v", w.what, violations)
	}
}

// TestSpoiltPartsAreSeenByTheNextDriftTick: parts of a state are replaced by those of another one, in
// a step that touches no pod, or in a drift tick.
func TestSpoiltPartsAreSeenByTheNextDriftTick(t *testing.T) {
	partly, seen := 0, 0
	for _, field := range fields() {
		for name, donor := range others() {
			for _, at := range []string{"a step before", "the tick itself"} {
				w := newTwins(t, field+" of "+name+", "+at, busy())
				w.look()
				input := core.Input(core.TimerFired{Timer: 1 << 60}) // nobody's
				if at == "the tick itself" {
					input = drift(slices.Collect(pods(w.state))...)
				}
				after, effects := core.Reduce(w.state, input)
				spoilt := graft(after, field, donor)
				violations := w.step(input, outcome{before: w.state, after: spoilt, effects: effects})
				if violations == nil {
					violations = w.tick()
				}
				if violations != nil {
					seen++
				}
				partly += w.partly
			}
		}
	}
	if partly == 0 || seen < len(fields()) {
		t.Errorf("pods were left out %d times, violations seen %d times", partly, seen)
	}
}

// farSteps lead away from a fleet of a to d, all published, so that no step and no list shows it.
var farSteps = []struct {
	name, invariant string
	spoil           func(w *twins)
}{
	{"a standing changes behind a step", "I2", func(w *twins) {
		w.doctor(core.TimerFired{Timer: 1 << 60}, func(o *outcome) {
			o.after = graft(o.after, "standings", another())
		})
	}},
	{"a standing changes in the tick", "I2", func(w *twins) {
		w.doctorTick(func(o *outcome) { o.after = graft(o.after, "standings", another()) })
	}},
	{"an admission changes behind a step", "I11", func(w *twins) {
		w.doctor(core.TimerFired{Timer: 1 << 60}, func(o *outcome) {
			o.after = graft(o.after, "admitted", another())
		})
	}},
	{"the tick remembers another publication", "I7", func(w *twins) {
		w.doctorTick(func(o *outcome) {
			other := another()
			for range 3 { // as many as there were here
				other, _ = core.Reduce(other, drift(slices.Collect(pods(other))...))
			}
			o.after = graft(o.after, "published", other)
		})
	}},
	{"a publication changes an endpoint silently", "I1", func(w *twins) {
		w.doctor(deleted("d"), func(o *outcome) {
			changeEvents(o, func(e *core.HAProxyPodsDiscovered) {
				e.Fleet = core.NewFleet(first,
					endpoint("a", "u", "3.4.3"), endpoint("b", "u", "3.3.1"), endpoint("c", "u", "3.4.3"))
			})
		})
	}},
	{"the tick's publication changes an endpoint silently", "I1", func(w *twins) {
		w.doctorTick(func(o *outcome) {
			changeEvents(o, func(e *core.HAProxyPodsDiscovered) {
				endpoints := e.Fleet.Endpoints()
				endpoints[1].Version = core.ParseVersion("3.3.1")
				e.Fleet = core.NewFleet(first, endpoints...)
			})
		})
	}},
	{"another selector judges nobody", "I11", func(w *twins) {
		selecting := core.ConfigValidated{AgentPort: 5555, PodSelector: "app"}
		w.doctor(selecting, func(o *outcome) {
			judging := o.after
			o.after, o.effects = core.Reduce(o.before, core.ConfigValidated{AgentPort: 5555})
			o.after = graft(o.after, "settings", judging)
		})
	}},
}

// TestWhatIsSpoiltFarFromAStepIsSeenByTheNextDriftTick: all pods are settled, so that a tick that
// leaves pods out has to notice that these have changed.
func TestWhatIsSpoiltFarFromAStepIsSeenByTheNextDriftTick(t *testing.T) {
	for _, far := range farSteps {
		w := newTwins(t, far.name, core.New(caps))
		for _, input := range fleetOfFour("3.4.3") {
			w.honest(input)
		}
		w.look()
		w.look()
		if w.partly == 0 {
			t.Errorf("%s: the second tick leaves nobody out", far.name)
		}
		far.spoil(w)
		if w.seen == nil {
			w.tick()
		}
		if !catches(w.seen, far.invariant) {
			t.Errorf("%s: they see %v", far.name, w.seen)
		}
	}
}

func (w *twins) doctor(input core.Input, spoil func(*outcome)) {
	w.t.Helper()
	o := outcome{before: w.state}
	o.after, o.effects = core.Reduce(w.state, input)
	o.effects = slices.Clone(o.effects)
	spoil(&o)
	w.step(input, o)
}

func (w *twins) doctorTick(spoil func(*outcome)) {
	w.t.Helper()
	w.doctor(drift(slices.Collect(pods(w.state))...), spoil)
}

// another is the fleet of a to d in which b has another version.
func another() core.State { return run(caps, fleetOfFour("3.3.1")) }

func fleetOfFour(version string) []core.Input {
	return after(opened(pod("a", "u"), pod("b", "u"), pod("c", "u"), pod("d", "u")), answered(1),
		core.ProbeFinished{Probe: 2, Outcome: core.Answer{Version: version}}, answered(3), answered(4))
}
