package invariant_test

import (
	"net/netip"
	"slices"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// The stories that the tests doctor. Two places for probes, one of them for retries; probes and
// timers are numbered from 1, and timer 1 is that of the first publication.

var caps = core.Config{MaxProbes: 2, MaxRetries: 1}

var (
	first  = newCredentials("alpha")
	second = newCredentials("beta")
)

func newCredentials(password string) core.Credentials {
	c, err := core.NewCredentials("admin", password)
	if err != nil {
		panic(err)
	}
	return c
}

func pod(name, uid string) *core.Pod {
	return &core.Pod{
		Key: core.PodKey{Namespace: "lb", Name: name}, UID: uid, Phase: core.PhaseRunning,
		IP: netip.MustParseAddr("10.1.0.1"), Agent: core.AgentRunning, RuntimeID: "r",
	}
}

func waiting(name string) *core.Pod {
	p := pod(name, "u")
	p.Agent = core.AgentWaiting
	return p
}

func key(name string) core.PodKey { return core.PodKey{Namespace: "lb", Name: name} }

func identity(name, uid string) core.Identity {
	return core.Identity{
		Namespace: "lb", Name: name, UID: uid, RuntimeID: "r", URL: "http://10.1.0.1:5555",
	}
}

func endpoint(name, uid, version string) core.Endpoint {
	return core.Endpoint{Identity: identity(name, uid), Version: core.ParseVersion(version)}
}

// opened has the gate open, with these pods.
func opened(pods ...*core.Pod) []core.Input {
	return []core.Input{
		core.ConfigValidated{AgentPort: 5555},
		core.CredentialsUpdated{Credentials: first},
		core.PodStoreSet{Pods: pods, Synced: core.SyncDone},
	}
}

// published has a and b published as generation 1.
func published(further ...core.Input) []core.Input {
	return slices.Concat(opened(pod("a", "u"), pod("b", "u")),
		[]core.Input{answered(1), answered(2)}, further)
}

func after(story []core.Input, further ...core.Input) []core.Input {
	return slices.Concat(story, further)
}

func answered(probe core.ProbeID) core.Input {
	return core.ProbeFinished{Probe: probe, Outcome: core.Answer{Version: "3.4.3"}}
}

func answeredWithout(probe core.ProbeID) core.Input {
	return core.ProbeFinished{Probe: probe, Outcome: core.Answer{}}
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
		in.Deleted = append(in.Deleted, core.PodRef{Key: key(name), UID: "u"})
	}
	return in
}

func drift(pods ...*core.Pod) core.Input { return core.DriftPreventionTriggered{Pods: pods} }

// outcome is what came of a step, for a doctor to spoil.
type outcome struct {
	before, after core.State
	effects       []core.Effect
}

func run(config core.Config, inputs []core.Input) core.State {
	state := core.New(config)
	for _, input := range inputs {
		state, _ = core.Reduce(state, input)
	}
	return state
}

// drop removes the effects of a kind.
func drop[E core.Effect](o *outcome) {
	o.effects = slices.DeleteFunc(o.effects, func(e core.Effect) bool { _, is := e.(E); return is })
}

// dropEvents removes the events of a kind.
func dropEvents[E core.Event](o *outcome) {
	o.effects = slices.DeleteFunc(o.effects, func(e core.Effect) bool {
		publish, _ := e.(core.Publish)
		_, is := publish.Event.(E)
		return is
	})
}

// change alters the effects of a kind.
func change[E core.Effect](o *outcome, alter func(*E)) {
	for i, effect := range o.effects {
		if e, is := effect.(E); is {
			alter(&e)
			o.effects[i] = e
		}
	}
}

// changeEvents alters the events of a kind.
func changeEvents[E core.Event](o *outcome, alter func(*E)) {
	change(o, func(publish *core.Publish) {
		if event, is := publish.Event.(E); is {
			alter(&event)
			publish.Event = event
		}
	})
}

// terminate tells of a termination that did not happen, before everything else.
func terminate(o *outcome, identity core.Identity) {
	event := core.HAProxyPodTerminated{Identity: identity, Cause: core.CauseDeleted}
	o.effects = slices.Insert(o.effects, 0, core.Effect(core.Publish{Event: event}))
}

func startProbe(number core.ProbeID, whom core.Identity) core.Effect {
	return core.StartProbe{
		Probe: number, Identity: whom, Credentials: first, Timeout: time.Second,
	}
}

func replayed() core.Effect {
	return core.Publish{Event: core.HAProxyPodsDiscovered{
		Trigger: core.TriggerBecameLeader, Replay: true,
	}}
}

func unanswered() core.Effect {
	return core.Publish{Event: core.HAProxyPodRejected{
		Namespace: "lb", Name: "a", UID: "u", Reason: core.ReasonAgentUnreachable,
		Cause: core.CauseTimeout, Attempt: 1, RetryIn: time.Second,
	}}
}
