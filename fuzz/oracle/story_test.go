package oracle_test

import (
	"net/netip"
	"slices"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/fuzz/story"
)

// Two places for probes, one of them for retries. Probes and timers are numbered from 1; timer 1 is
// that of the first publication.
var caps = core.Config{MaxProbes: 2, MaxRetries: 1}

func pod(name, uid string) *core.Pod {
	return &core.Pod{
		Key: core.PodKey{Namespace: "lb", Name: name}, UID: uid, Labels: map[string]string{"app": "lb"},
		IP: netip.MustParseAddr("10.1.0.1"), Phase: core.PhaseRunning,
		Agent: core.AgentRunning, RuntimeID: "r",
	}
}

func waiting(name string) *core.Pod {
	p := pod(name, "u")
	p.Agent = core.AgentWaiting
	return p
}

// opened has the gate open, with these pods.
func opened(pods ...*core.Pod) []core.Input {
	return []core.Input{
		core.ConfigValidated{AgentPort: 5555, PodSelector: "app=lb"},
		core.CredentialsUpdated{Credentials: story.Credentials[0]},
		core.PodStoreSet{Pods: pods, Synced: core.SyncDone},
	}
}

// published has a and b published as generation 1.
func published(further ...core.Input) []core.Input {
	return after(opened(pod("a", "u"), pod("b", "u")),
		append([]core.Input{answered(1), answered(2)}, further...)...)
}

func after(told []core.Input, further ...core.Input) []core.Input {
	return slices.Concat(told, further)
}

func answered(probe core.ProbeID) core.Input {
	return core.ProbeFinished{Probe: probe, Outcome: core.Answer{Version: "3.4.3"}}
}

func failed(probe core.ProbeID) core.Input {
	return core.ProbeFinished{Probe: probe, Outcome: core.Failure{Cause: core.CauseTimeout}}
}

func upserted(pods ...*core.Pod) core.Input {
	return core.ResourceIndexUpdated{Resource: core.HAProxyPods, Upserted: pods}
}

func deleted(names ...string) core.Input {
	in := core.ResourceIndexUpdated{Resource: core.HAProxyPods}
	for _, name := range names {
		in.Deleted = append(in.Deleted,
			core.PodRef{Key: core.PodKey{Namespace: "lb", Name: name}, UID: "u"})
	}
	return in
}

func drift(pods ...*core.Pod) core.Input { return core.DriftPreventionTriggered{Pods: pods} }

// outcome is what came of a step, for a doctor to spoil.
type outcome struct {
	state   core.State
	effects []core.Effect
}

// drop removes the effects of a kind, and dropEvents the events of one.
func drop[E core.Effect](o *outcome) {
	o.effects = slices.DeleteFunc(o.effects, func(e core.Effect) bool { _, is := e.(E); return is })
}

func dropEvents[E core.Event](o *outcome) {
	o.effects = slices.DeleteFunc(o.effects, func(e core.Effect) bool {
		publish, _ := e.(core.Publish)
		_, is := publish.Event.(E)
		return is
	})
}

// change alters the effects of a kind, and changeEvents the events of one.
func change[E core.Effect](alter func(*E)) func(*outcome) {
	return func(o *outcome) {
		for i, effect := range o.effects {
			if e, is := effect.(E); is {
				alter(&e)
				o.effects[i] = e
			}
		}
	}
}

func changeEvents[E core.Event](alter func(*E)) func(*outcome) {
	return change(func(publish *core.Publish) {
		if event, is := publish.Event.(E); is {
			alter(&event)
			publish.Event = event
		}
	})
}

// add puts an effect at the end, addFirst at the beginning.
func add(effect core.Effect) func(*outcome) {
	return func(o *outcome) { o.effects = append(o.effects, effect) }
}

func addFirst(effect core.Effect) func(*outcome) {
	return func(o *outcome) { o.effects = slices.Insert(o.effects, 0, effect) }
}

// stateOf takes the state from another story, with the numbers of its own.
func stateOf(inputs ...core.Input) func(*outcome) {
	return func(o *outcome) {
		state := core.New(caps)
		for _, input := range inputs {
			state, _ = core.Reduce(state, input)
		}
		o.state = state
	}
}
