package oracle

import (
	"fmt"
	"net/netip"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// Oracle follows one history from its start. It is not safe for concurrent use.
type Oracle struct {
	// Sparing has the lists that a state copies out compared only where they matter, in full passes
	// and publications, and in one step of eight otherwise. That halves the cost of a step.
	Sparing bool

	config core.Config
	// step counts the inputs; it serves as the time at which things happened.
	step  int
	facts facts

	// was and now are all pods, in the order of their keys, before and after the step.
	was, now []place
	// lastReset is the step that last reset the back-off.
	lastReset int

	// outstanding are the probes whose result is yet to come, cancelled ones included.
	outstanding []probe
	// retryTimers, publishTimer and firstPublishTimer are armed; lastTimer is the newest number.
	publishTimer      core.TimerID
	firstPublishTimer core.TimerID
	lastProbe         core.ProbeID
	lastTimer         core.TimerID

	published publication
	// admitted is who has answered, worked out anew in each step.
	admitted []member

	expected expectation
	// spreads are how far the delays of an identity are off the round figure, per mille.
	spreads map[core.Identity]int64
	urls    map[netip.AddrPort]string

	differences []string
	// keys is room for a list.
	keys []core.PodKey
}

// place is where one pod stands.
type place struct {
	pod     *core.Pod
	verdict core.Verdict
	// candidacy is set exactly for candidates.
	candidacy *candidacy
}

// New follows a history that starts with core.New(config).
func New(config core.Config) *Oracle {
	o := &Oracle{spreads: map[core.Identity]int64{}, urls: map[netip.AddrPort]string{}}
	o.Restart(config)
	return o
}

// Restart makes the oracle as good as new, and keeps its memory.
func (o *Oracle) Restart(config core.Config) {
	clear(o.spreads)
	clear(o.urls)
	*o = Oracle{
		Sparing: o.Sparing,
		config:  core.New(config).Config(),
		facts:   facts{pods: o.facts.pods[:0], spare: o.facts.spare[:0]},
		was:     o.was[:0], now: o.now[:0],
		outstanding: o.outstanding[:0],
		admitted:    o.admitted[:0],
		published:   publication{fleet: o.published.fleet[:0]},
		expected:    o.expected,
		spreads:     o.spreads, urls: o.urls, keys: o.keys,
	}
}

// Step takes an input in, and compares what has to follow from it with the state and the effects
// that core has made of it. It returns in words where they differ; nil if they agree. Behind a step
// that differs, the oracle is of no more use.
func (o *Oracle) Step(input core.Input, after core.State, effects []core.Effect) []string {
	o.step++
	o.differences = nil
	o.expected.clear()

	in := o.facts.take(input)
	o.expected.refusals = in.refusals
	o.judgeAll()
	o.followCandidacies(in)
	switch e := input.(type) {
	case core.ProbeFinished:
		o.probeFinished(e)
	case core.TimerFired:
		o.timerFired(e)
	}
	if in.fullPass {
		o.retryAll(in.freshBackoff)
	}
	o.report(in)
	o.publish(in)
	o.launch()

	o.compareEffects(effects, after)
	o.compareState(after)
	if !o.Sparing || in.fullPass || o.expected.discovery.wanted || o.step%8 == 0 {
		o.compareLists(after)
	}
	return o.differences
}

func (o *Oracle) differ(format string, args ...any) {
	o.differences = append(o.differences, fmt.Sprintf(format, args...))
}

// judgeAll looks at every pod anew.
func (o *Oracle) judgeAll() {
	o.was, o.now = o.now, o.was[:0]
	for _, pod := range o.facts.pods {
		o.now = append(o.now, place{pod: pod, verdict: o.verdictOf(pod)})
	}
}

// find gives a pod's place, nil if it is not known.
func find(places []place, key core.PodKey) *place {
	for i := range places {
		if places[i].pod.Key == key {
			return &places[i]
		}
	}
	return nil
}
