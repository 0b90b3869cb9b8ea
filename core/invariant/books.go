package invariant

import (
	"slices"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// books are what a monitor knows of the past by inputs and effects alone, so that no state's word
// is taken for it.
type books struct {
	known knowledge
	// lives are the candidacies that go on.
	lives map[core.PodKey]*life
	// probes are the outstanding ones, in the order in which they started.
	probes []probe
	// timers are the armed ones, with the pod of a retry timer.
	timers map[core.TimerID]core.PodKey
	// backoffResets counts the inputs that reset the retry back-off.
	backoffResets int
	lastProbe     core.ProbeID
	lastTimer     core.TimerID
	published     publication
	// parsed is the version that was read last: agents of one fleet mostly tell the same.
	parsed core.Version
}

// life is one candidacy of an identity: it ends when the identity ceases to be a candidate, even if
// it comes back in the same step.
type life struct {
	identity core.Identity
	over     bool
	// pod and epoch are what the identity was judged by: facts, and settings by their count.
	pod   *core.Pod
	epoch int
	// judged tells that a probe had a verdict, answered that it was an answer, with that version.
	judged   bool
	answered bool
	version  core.Version
	// attempts counts verdicts since the back-off was reset for the resets-th time.
	attempts int
	resets   int
}

// final tells that nothing more has to be asked (R13).
func (l *life) final() bool { return l.answered && l.version.Known() }

// probe is one that has started and not finished.
type probe struct {
	core.OutstandingProbe
	// asks is the candidacy for which it has started; nil for one that was cancelled since.
	asks *life
}

// publication is the last one that was told.
type publication struct {
	told       bool
	fleet      core.Fleet
	generation uint64
}

// believe fills the books from what a state says.
func (b *books) believe(initial core.State) {
	clear(b.lives)
	clear(b.timers)
	*b = books{
		known: b.known, lives: b.lives, timers: b.timers, probes: b.probes[:0], parsed: b.parsed,
	}
	b.known.believe(initial)
	for standing := range initial.Standings() {
		if standing.Verdict.Kind == core.IsCandidate {
			b.lives[standing.Pod.Key] = &life{
				identity: standing.Identity, judged: standing.Retry,
				answered: standing.Admitted, version: standing.Version,
				attempts: standing.Attempts,
			}
		}
	}
	for p := range initial.Outstanding() {
		asked := probe{OutstandingProbe: p}
		if !p.Cancelled {
			asked.asks = b.lives[p.Identity.Key()]
		}
		b.probes = append(b.probes, asked)
		b.lastProbe = max(b.lastProbe, p.Probe)
	}
	for _, id := range []core.TimerID{initial.PublishTimer(), initial.FirstPublishTimer()} {
		if id != 0 {
			b.arm(id, core.PodKey{})
		}
	}
	for id, key := range initial.RetryTimers() {
		b.arm(id, key)
	}
	b.published.fleet, b.published.generation, b.published.told = initial.Published()
}

func (b *books) arm(timer core.TimerID, key core.PodKey) {
	b.timers[timer] = key
	b.lastTimer = max(b.lastTimer, timer)
}

func (b *books) probe(id core.ProbeID) (index int, found bool) {
	index = slices.IndexFunc(b.probes, func(p probe) bool { return p.Probe == id })
	return index, index >= 0
}

func (b *books) attemptsOf(lived *life) int {
	if lived == nil || lived.resets != b.backoffResets {
		return 0
	}
	return lived.attempts
}

// versionOf reads the version of an answer.
func (b *books) versionOf(answer core.Answer) core.Version {
	text := answer.Version
	if text == "" {
		text = answer.FullVersion
	}
	if text != b.parsed.Text {
		b.parsed = answer.HAProxy()
	}
	if text == "" {
		return core.Version{}
	}
	return b.parsed
}
