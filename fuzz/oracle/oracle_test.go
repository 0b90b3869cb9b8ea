package oracle_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/fuzz/oracle"
	"github.com/haproxy-discovery/haproxy-discovery/fuzz/story"
)

// doctored is an honest story whose last step is spoilt, and a part of what the oracle has to say.
type doctored struct {
	name   string
	story  []core.Input
	doctor func(*outcome)
	says   string
}

var (
	a, b, c      = pod("a", "u"), pod("b", "u"), pod("c", "u")
	aReplaced    = pod("a", "u2")
	noVersion    = core.ProbeFinished{Probe: 1, Outcome: core.Answer{}}
	otherVersion = core.ProbeFinished{Probe: 2, Outcome: core.Answer{Version: "3.3.5"}}
	rotated      = core.CredentialsUpdated{Credentials: story.Credentials[1]}
	otherPort    = core.ConfigValidated{AgentPort: 5556, PodSelector: "app=lb"}
	nonsense     = core.TimerFired{Timer: 99}
	terminated   = core.HAProxyPodTerminated{Cause: core.CauseDeleted}
)

var doctoredEffects = []doctored{
	{"a refusal is missing", published(nonsense), drop[core.Refuse], "0 refusals instead of 1"},
	{"a needless cancellation", published(deleted("a")), addFirst(core.CancelProbe{Probe: 1}),
		"probe 1 is cancelled"},
	{"a cancellation is missing", after(opened(a), deleted("a")), drop[core.CancelProbe],
		"1 cancellations and stopped timers instead of 2"},
	{"cancelled twice", after(opened(a), deleted("a")), addFirst(core.CancelProbe{Probe: 1}),
		"3 cancellations and stopped timers instead of 2"},
	{"a needless stop", after(opened(a), failed(1)), addFirst(core.StopTimer{Timer: 2}),
		"timer 2 is stopped"},
	{"another one is stopped", after(opened(a), failed(1), deleted("a")),
		change(func(e *core.StopTimer) { e.Timer++ }), "is stopped"},
	{"a needless timer", published(deleted("a")), add(core.StartTimer{Timer: 9}),
		"timer 9 is started needlessly"},
	{"a retry timer is missing", after(opened(a), failed(1)), drop[core.StartTimer],
		"a timer that should be started is not"},
	{"the number of a timer comes again",
		after(opened(a), failed(1), core.TimerFired{Timer: 2}, failed(2)), func(o *outcome) {
			stateOf(after(opened(a), failed(1))...)(o)
			change(func(e *core.StartTimer) { e.Timer = 2 })(o)
		}, "the number of timer 2 is not new"},
	{"one is cancelled twice, another not at all", after(opened(a, b), deleted("a", "b")),
		change(func(e *core.CancelProbe) { e.Probe = 1 }), "probe 1 is cancelled"},
	{"asked again too late", after(opened(a), failed(1)),
		change(func(e *core.StartTimer) { e.After *= 2 }), "instead of about 1s"},
	{"asked again at another time than told", after(opened(a), failed(1)),
		change(func(e *core.StartTimer) { e.After += time.Millisecond }), "to be asked again in"},
	{"another spread", after(opened(a), failed(1), core.TimerFired{Timer: 2}, failed(2)),
		change(func(e *core.StartTimer) { e.After -= e.After / 50 }), "are spread by"},
	{"another publish delay", after(opened(a, b), answered(1)),
		change(func(e *core.StartTimer) { e.After++ }), "admissions wait for"},
	{"another first publish delay", opened(a),
		change(func(e *core.StartTimer) { e.After++ }), "the first publication waits for"},

	{"a needless rejection", published(deleted("a")),
		addFirst(core.Publish{Event: core.HAProxyPodRejected{Name: "a"}}), "rejected needlessly"},
	{"a rejection is missing", published(upserted(waiting("c"))),
		dropEvents[core.HAProxyPodRejected], "0 Rejected instead of 1"},
	{"another cause is told", after(opened(a), failed(1)),
		changeEvents(func(e *core.HAProxyPodRejected) { e.Cause = core.CauseTLS }), "Cause:tls"},
	{"another attempt is told", after(opened(a), failed(1)),
		changeEvents(func(e *core.HAProxyPodRejected) { e.Attempt++ }), "Attempt:2"},
	{"a needless termination", published(upserted(c)),
		addFirst(core.Publish{Event: terminated}), "terminated needlessly"},
	{"a termination is missing", published(deleted("a")),
		dropEvents[core.HAProxyPodTerminated], "0 Terminated instead of 1"},
	{"terminated for another cause", published(upserted(aReplaced)),
		changeEvents(func(e *core.HAProxyPodTerminated) { e.Cause = core.CauseDeleted }),
		"Cause:deleted} instead of"},
	{"a needless publication", after(opened(a), failed(1), nonsense), add(core.Publish{
		Event: core.HAProxyPodsDiscovered{Generation: 2},
	}), "published needlessly"},
	{"a publication is missing", published(drift(a, b)),
		dropEvents[core.HAProxyPodsDiscovered], "0 Discovered instead of 1"},
	{"a generation is skipped", published(drift(a, b)),
		changeEvents(func(e *core.HAProxyPodsDiscovered) { e.Generation++ }), "generation 3 instead"},
	{"no replay", published(core.BecameLeader{}),
		changeEvents(func(e *core.HAProxyPodsDiscovered) { e.Replay = false }), "replay false"},
	{"rotated, but not told so", published(rotated),
		changeEvents(func(e *core.HAProxyPodsDiscovered) { e.CredentialsChanged = false }),
		"credentials changed false"},
	{"who is new is not told", after(opened(a), answered(1)),
		changeEvents(func(e *core.HAProxyPodsDiscovered) { e.Added = nil }), "added are []"},
	{"who is updated is not told", after(opened(a), noVersion, core.TimerFired{Timer: 2}, answered(2)),
		changeEvents(func(e *core.HAProxyPodsDiscovered) { e.Updated = nil }), "updated are []"},
	{"who is gone is not told", published(deleted("a")),
		changeEvents(func(e *core.HAProxyPodsDiscovered) { e.Removed = nil }), "removed are []"},
	{"too few are told", published(deleted("a")),
		changeEvents(func(e *core.HAProxyPodsDiscovered) { e.Fleet = core.Fleet{} }),
		"0 endpoints are told instead of 1"},
	{"others are told", published(drift(a, b)),
		changeEvents(func(e *core.HAProxyPodsDiscovered) {
			e.Fleet = core.NewFleet(e.Fleet.Credentials(), slices.Repeat(e.Fleet.Endpoints()[:1], 1)...)
		}), "1 endpoints are told instead of 2"},
	{"told with old credentials", published(rotated),
		changeEvents(func(e *core.HAProxyPodsDiscovered) {
			e.Fleet = core.NewFleet(story.Credentials[0], e.Fleet.Endpoints()...)
		}), "told"},
	{"an empty fleet is told with old credentials", after(opened(), rotated),
		changeEvents(func(e *core.HAProxyPodsDiscovered) {
			e.Fleet = core.NewFleet(story.Credentials[0])
		}), "told has old credentials"},

	{"a needless probe", published(drift(a, b)), add(core.StartProbe{Probe: 3}), "is needless"},
	{"a probe is missing", published(upserted(c)), drop[core.StartProbe],
		"0 probes started instead of 1"},
	{"somebody else is probed", published(upserted(c)),
		change(func(e *core.StartProbe) { e.Identity.UID = "u2" }), "is probed instead of"},
	{"out of turn", opened(a, b), func(o *outcome) {
		last := len(o.effects) - 1
		o.effects[last], o.effects[last-1] = o.effects[last-1], o.effects[last]
	}, "is probed instead of"},
	{"probed with other credentials", published(upserted(c)),
		change(func(e *core.StartProbe) { e.Credentials = story.Credentials[1] }),
		"has old credentials"},
	{"a probe may take too long", published(upserted(c)),
		change(func(e *core.StartProbe) { e.Timeout++ }), "instead of 1s"},
	{"the number of a probe comes again", published(upserted(c)),
		change(func(e *core.StartProbe) { e.Probe = 2 }), "the number of probe 2 is not new"},

	{"the publication comes first", published(deleted("a")),
		func(o *outcome) { slices.Reverse(o.effects) }, "comes too late"},
	{"an unknown effect", published(nonsense), add(nil), "no known effect"},
	{"an unknown event", published(nonsense), add(core.Publish{}), "no known event"},
}

var doctoredStates = []doctored{
	{"the config is forgotten", published(otherPort), stateOf(published()...), "the config is"},
	{"the credentials are forgotten", published(rotated), stateOf(published()...),
		"the credentials are not the newest"},
	{"other numbers of the rules", opened()[:1], func(o *outcome) {
		o.state, _ = core.Reduce(core.New(core.Config{MaxProbes: 7}), opened()[0])
	}, "the numbers of the rules"},
	{"the gate stays shut", opened(), stateOf(opened()[:2]...), "the gate is open: false"},
	{"the sync is forgotten", after(opened()[:2], core.PodStoreSet{}, core.ResourceSyncComplete{
		Resource: core.HAProxyPods,
	}), stateOf(opened()[:2]...), "the store has synced: false"},
	{"a pod is forgotten", published(upserted(waiting("c"))), stateOf(published()...),
		"2 pods are known instead of 3"},
	{"another pod is known", published(upserted(waiting("c"))),
		stateOf(published(upserted(waiting("d")))...), "lb/d is known at place 2"},
	{"other facts are known", published(upserted(waiting("c"))),
		stateOf(published(upserted(c))...), "lb/c is known as"},
	{"another verdict", published(core.ConfigValidated{AgentPort: 5555, PodSelector: "tier"}),
		stateOf(published()...), "the verdict on lb/a is"},
	{"not admitted", after(opened(a, b), answered(1)), stateOf(opened(a, b)...),
		"lb/a stands as"},
	{"another fleet", after(opened(a, b), answered(1)), stateOf(after(opened(a, b), answered(2))...),
		"admitted is"},
	{"another queue", after(opened(a, b), upserted(c), upserted(pod("d", "u"))),
		stateOf(after(opened(a, b), upserted(pod("d", "u")), upserted(c))...),
		"is at place 0 of the first attempts"},
	{"a longer queue", after(opened(a, b), upserted(c)),
		stateOf(after(opened(a, b), upserted(c, pod("d", "u")))...),
		"2 first attempts counted instead of 1"},
	{"nobody waits", after(opened(a, b), upserted(c)), stateOf(opened(a, b)...),
		"0 first attempts counted instead of 1"},
	{"another order of retries", after(opened(a, b), failed(1), failed(2),
		core.TimerFired{Timer: 2}, core.TimerFired{Timer: 3}),
		stateOf(after(opened(a, b), failed(1), failed(2))...), "retries counted"},
	{"the probe is forgotten", published(upserted(c)), stateOf(published()...),
		"0 probes outstanding instead of 1"},
	{"a probe is not cancelled", after(opened(a, b), deleted("a")), stateOf(opened(a, b)...),
		"outstanding is probe 1"},
	{"first attempts are forgotten", published(upserted(c)), stateOf(published()...),
		"first attempts are pending: false"},
	{"the retry timer is forgotten", after(opened(a), failed(1), nonsense), stateOf(opened(a)...),
		"0 retry timers instead of 1"},
	{"the publish timer is forgotten", after(opened(a, b), answered(1), nonsense),
		stateOf(opened(a, b)...),
		"the publish timers are 0 and 1"},
	{"the publication is forgotten", published(drift(a, b)), stateOf(published()...),
		"generation 1 is remembered instead of 2"},
	{"it remembers another fleet", published(drift(a, b)),
		stateOf(after(opened(a, b), answered(1), otherVersion, drift(a, b))...),
		"published is"},
	{"who is unpublished is forgotten", after(opened(a, b), answered(1)),
		stateOf(after(opened(a, b), answered(1), core.TimerFired{Timer: 2})...),
		"0 unpublished instead of 1"},
	{"another one is unpublished", after(opened(a, b), answered(1)),
		stateOf(after(opened(a, b), answered(2))...), "is at place 0 of the unpublished"},
	{"who is unsettled is forgotten", published(upserted(waiting("c"))), stateOf(published()...),
		"0 unsettled instead of 1"},
	{"another one is unsettled", published(upserted(waiting("c"))),
		stateOf(published(upserted(waiting("d")))...), "is at place 0 of the unsettled"},
}

func TestTheOracleSeesWhatIsWrong(t *testing.T) {
	for _, d := range slices.Concat(doctoredEffects, doctoredStates) {
		t.Run(d.name, func(t *testing.T) {
			differences := tell(d)
			if !slices.ContainsFunc(differences, func(said string) bool {
				return strings.Contains(said, d.says)
			}) {
				t.Errorf("the oracle says %q", differences)
			}
		})
	}
}

func TestTheOracleAgreesWithHonestStories(t *testing.T) {
	for _, d := range slices.Concat(doctoredEffects, doctoredStates) {
		d.doctor = func(*outcome) {}
		if differences := tell(d); differences != nil {
			t.Errorf("%s: %q", d.name, differences)
		}
	}
}

// tell has an oracle follow the story up to its last step, which is doctored.
func tell(d doctored) []string {
	state := core.New(caps)
	o := oracle.New(caps)
	for i, input := range d.story {
		next, effects := core.Reduce(state, input)
		came := outcome{next, effects}
		if i == len(d.story)-1 {
			d.doctor(&came)
		}
		if differences := o.Step(input, came.state, came.effects); differences != nil {
			return differences
		}
		state = next
	}
	return nil
}
