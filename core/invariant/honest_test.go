package invariant_test

import (
	"net/netip"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// honestStories are those in which the monitor itself could go wrong: they end with an input that
// is rare, and have no doctor.
var honestStories = []doctored{
	{name: "terminating", story: published(changed("a", func(p *core.Pod) { p.Terminating = true }))},
	{name: "malformed", story: published(changed("a", func(p *core.Pod) { p.Malformed = "what?" }))},
	{name: "another address", story: published(changed("a", func(p *core.Pod) {
		p.IP = netip.MustParseAddr("10.1.0.2")
	}))},
	{name: "restarted", story: published(changed("a", func(p *core.Pod) { p.RuntimeID = "r2" }))},
	{name: "deselected", story: published(core.ConfigValidated{AgentPort: 5555, PodSelector: "app"})},
	{name: "another port", story: published(core.ConfigValidated{AgentPort: 5556})},
	{name: "an invalid port", story: published(core.ConfigValidated{})},
	{name: "no credentials", story: published(core.CredentialsUpdated{})},
	{name: "no outcome", story: after(opened(pod("a", "u")), core.ProbeFinished{Probe: 1})},
	{name: "a failure under old credentials", story: after(opened(pod("a", "u")),
		core.CredentialsUpdated{Credentials: second}, failed(1))},
	{name: "a late answer", story: after(opened(pod("a", "u")), deleted("a"), answered(1))},
	{name: "a late answer, and it is back", story: after(opened(pod("a", "u")), deleted("a"),
		upserted(pod("a", "u")), answered(1))},
	{name: "an answer to nobody", story: published(answered(17))},
	{name: "a late timer", story: after(opened(pod("a", "u")), failed(1), deleted("a"),
		core.TimerFired{Timer: 2})},
	{name: "another resource", story: published(core.ResourceIndexUpdated{Resource: "services",
		Deleted: []core.PodRef{{Key: key("a"), UID: "u"}}})},
	{name: "another sync", story: published(core.ResourceSyncComplete{Resource: "services"})},
	{name: "the sync of a new store", story: published(
		core.PodStoreSet{Synced: core.SyncPending}, synced(pod("b", "u")))},
	{name: "a store that cannot say", story: after(opened()[:2], synced(),
		core.PodStoreSet{Pods: []*core.Pod{pod("a", "u")}})},
	{name: "a sync before its store", story: after(opened()[:2], synced(pod("a", "u")))},
	{name: "a leader before the gate opens", story: []core.Input{core.BecameLeader{}}},
	{name: "labels", story: published(changed("c", func(p *core.Pod) {
		p.Labels = map[string]string{"app": "lb", "tier": "edge"}
	}))},
	{name: "a retry in the queue", story: after(opened(pod("a", "u"), pod("b", "u"), pod("c", "u")),
		failed(1), failed(2), failed(3), core.TimerFired{Timer: 2}, core.TimerFired{Timer: 3},
		core.TimerFired{Timer: 4}, failed(4))},
	{name: "many pods", story: opened(many(300)...)},
}

func changed(name string, change func(*core.Pod)) core.Input {
	p := pod(name, "u")
	change(p)
	return upserted(p)
}

func synced(pods ...*core.Pod) core.Input {
	return core.ResourceSyncComplete{Resource: core.HAProxyPods, Pods: pods}
}

func many(n int) []*core.Pod {
	_, pods := settled(n)
	return pods
}
