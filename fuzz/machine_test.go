package fuzz

import (
	"maps"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/core/invariant"
	"github.com/haproxy-discovery/haproxy-discovery/fuzz/oracle"
	"github.com/haproxy-discovery/haproxy-discovery/fuzz/story"
)

// machine drives one story: a world that changes, and a reducer that is told of it, rightly or not.
type machine struct {
	state    core.State
	thorough *invariant.Monitor
	cheap    *invariant.Monitor
	oracle   *oracle.Oracle

	// world is the store's content; past keeps what it held, for stale reads.
	world    map[core.PodKey]*core.Pod
	past     []*core.Pod
	storeSet bool

	outstanding map[core.ProbeID]bool
	finished    []core.ProbeID
	armed       map[core.TimerID]bool
	disarmed    []core.TimerID

	twin    twin
	history []snapshot
}

// snapshot is a state with what it said when it was new.
type snapshot struct {
	state core.State
	text  string
}

func newMachine(config core.Config) *machine {
	state := core.New(config)
	return &machine{
		state:       state,
		thorough:    invariant.NewMonitor(state, invariant.Thorough()),
		cheap:       invariant.NewMonitor(state),
		oracle:      oracle.New(config),
		world:       map[core.PodKey]*core.Pod{},
		outstanding: map[core.ProbeID]bool{},
		armed:       map[core.TimerID]bool{},
		twin:        twin{state},
		history:     []snapshot{{state, invariant.Fingerprint(state)}},
	}
}

// step reduces an input and checks everything that has to hold after it.
func (m *machine) step(t *rapid.T, input core.Input) {
	t.Logf("%v", story.InputText{Input: input})
	was := story.InputText{Input: input}.String()
	after, effects := core.Reduce(m.state, input)
	for _, effect := range effects {
		t.Logf("    %v", story.EffectText{Effect: effect})
	}
	if is := (story.InputText{Input: input}).String(); is != was {
		t.Fatalf("reducing has changed its input from %s to %s", was, is)
	}
	m.state = after
	m.history = append(m.history, snapshot{after, invariant.Fingerprint(after)})
	m.follow(input, effects)
	m.twin.follow(t, input, after, effects)
	report(t, "thorough", m.thorough.Step(input, after, effects))
	report(t, "cheap", m.cheap.Step(input, after, effects))
	if differences := m.oracle.Step(input, after, effects); differences != nil {
		t.Fatalf("the oracle differs:\n%s", strings.Join(differences, "\n"))
	}
}

func report(t *rapid.T, monitor string, violations []invariant.Violation) {
	for _, violation := range violations {
		t.Errorf("%s monitor: %v", monitor, violation)
	}
	if len(violations) > 0 {
		t.FailNow()
	}
}

// follow keeps the books of what is outstanding and armed, as a shell has to.
func (m *machine) follow(input core.Input, effects []core.Effect) {
	switch in := input.(type) {
	case core.PodStoreSet:
		m.storeSet = true
	case core.ProbeFinished:
		if m.outstanding[in.Probe] {
			delete(m.outstanding, in.Probe)
			m.finished = append(m.finished, in.Probe)
		}
	case core.TimerFired:
		m.disarm(in.Timer)
	}
	for _, effect := range effects {
		switch e := effect.(type) {
		case core.StartProbe:
			m.outstanding[e.Probe] = true
		case core.StartTimer:
			m.armed[e.Timer] = true
		case core.StopTimer:
			m.disarm(e.Timer)
		}
	}
}

func (m *machine) disarm(timer core.TimerID) {
	if m.armed[timer] {
		delete(m.armed, timer)
		m.disarmed = append(m.disarmed, timer)
	}
}

// checkPast: no state that ever was has changed (I9).
func (m *machine) checkPast(t *rapid.T) {
	for i, old := range m.history {
		if text := invariant.Fingerprint(old.state); text != old.text {
			t.Fatalf("I9: state %d was\n%s\nand is\n%s", i, old.text, text)
		}
	}
}

// fork takes another path from an older state: the main line must not notice.
func (m *machine) fork(t *rapid.T) {
	from := m.history[rapid.IntRange(0, len(m.history)-1).Draw(t, "from")]
	state := from.state
	for range rapid.IntRange(1, 4).Draw(t, "length") {
		input := m.drawInput(t, state)
		after, effects := core.Reduce(state, input)
		t.Logf("fork: %v", story.InputText{Input: input})
		report(t, "single step", invariant.Check(state, input, after, effects))
		state = after
	}
	if text := invariant.Fingerprint(from.state); text != from.text {
		t.Fatalf("I9: a branch has changed its root from\n%s\nto\n%s", from.text, text)
	}
}

func sortedKeys[K ~uint64, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
