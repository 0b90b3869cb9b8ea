package invariant

import (
	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// Monitor checks the transitions of one history, one after the other. It is not safe for concurrent
// use.
//
// Unless it is thorough, a step costs about what Reduce itself spends on it: it looks at the pods
// that the input names and the effects tell of, in full passes at the unsettled ones too, and at
// the sets that are bounded by Config. Lists of a whole store are not walked.
type Monitor struct {
	thorough bool
	config   core.Config
	before   core.State
	// beforeText is what before said when it was new; kept by thorough monitors.
	beforeText string

	known  knowledge
	lives  map[core.PodKey]life
	probes map[core.ProbeID]probe
	// timers are the armed ones, with the pod of a retry timer.
	timers map[core.TimerID]core.PodKey
	// backoffResets counts the inputs that reset the retry back-off.
	backoffResets int
	lastProbe     core.ProbeID
	lastTimer     core.TimerID
	published     *publication
}

// life is one candidacy of an identity: it ends when the identity ceases to be a candidate, even if
// it comes back in the same step.
type life struct {
	identity core.Identity
	// judged tells that a probe had a verdict, answered that it was an answer, with that version.
	judged   bool
	answered bool
	version  core.Version
	// attempts counts verdicts since the back-off was reset for the resets-th time.
	attempts int
	resets   int
}

// probe is one that has started and not finished.
type probe struct {
	identity    core.Identity
	credentials core.Credentials
	retry       bool
	cancelled   bool
}

type publication struct {
	fleet      core.Fleet
	generation uint64
}

// Option changes what a Monitor does.
type Option func(*Monitor)

// Thorough makes each step look at the whole state and reduce the input a second time.
func Thorough() Option { return func(m *Monitor) { m.thorough = true } }

// NewMonitor watches a history from the given state on: a new one, or one whose gate is open and
// whose past is then taken from what it says.
func NewMonitor(initial core.State, options ...Option) *Monitor {
	m := &Monitor{
		config: initial.Config(),
		before: initial,
		lives:  map[core.PodKey]life{},
		probes: map[core.ProbeID]probe{},
		timers: map[core.TimerID]core.PodKey{},
	}
	for _, option := range options {
		option(m)
	}
	if m.thorough {
		m.beforeText = Fingerprint(initial)
	}
	m.believe(initial)
	return m
}

// Check looks thoroughly at one transition alone; what was before is believed.
func Check(
	before core.State, input core.Input, after core.State, effects []core.Effect,
) []Violation {
	monitor := NewMonitor(before, Thorough())
	monitor.known.gateUnclear = !before.GateOpen()
	return monitor.Step(input, after, effects)
}

// believe fills the books from a state that is not new.
func (m *Monitor) believe(initial core.State) {
	m.known = knowledgeOf(initial)
	for standing := range initial.Standings() {
		if standing.Verdict.Kind == core.IsCandidate {
			m.lives[standing.Pod.Key] = life{
				identity: standing.Identity, judged: standing.Retry,
				answered: standing.Admitted, version: standing.Version,
				attempts: standing.Attempts,
			}
		}
	}
	for _, p := range initial.Probes() {
		m.probes[p.Probe] = probe{p.Identity, p.Credentials, p.Retry, p.Cancelled}
		m.lastProbe = max(m.lastProbe, p.Probe)
	}
	for _, id := range initial.Timers() {
		m.timers[id] = core.PodKey{}
		m.lastTimer = max(m.lastTimer, id)
	}
	for id, key := range initial.RetryTimers() {
		m.timers[id] = key
	}
	if fleet, generation, published := initial.Published(); published {
		m.published = &publication{fleet, generation}
	}
}

// Step checks one transition, from the state of the step before to after. The effects are those
// that came with after. Nil means that everything holds.
func (m *Monitor) Step(input core.Input, after core.State, effects []core.Effect) []Violation {
	t := &transition{Monitor: m, input: input, after: after, effects: effects}
	if m.thorough {
		t.checkPurity()
	}
	t.takeInput()
	t.checkKnowledge()
	t.checkOrder()
	if m.known.gateOpen {
		t.findTouched()
		t.updateLives()
		t.followEffects()
		t.checkPublished()
		t.checkStandings()
		t.checkProbes()
		t.checkTimers()
		t.checkReports()
	}
	if m.thorough {
		t.checkWhole()
	}
	m.before = after
	return t.violations
}
