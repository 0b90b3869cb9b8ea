package inputlog

import (
	"testing"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

func discoveredOf(change func(*core.HAProxyPodsDiscovered)) core.Effect {
	key := core.PodKey{Namespace: "lb", Name: "hap-0"}
	event := core.HAProxyPodsDiscovered{
		Fleet: fleetOf("u1", "3.4.3"), Generation: 3, Trigger: core.TriggerProbeFinished,
		Added: []core.PodKey{key},
	}
	change(&event)
	return core.Publish{Event: event}
}

func fleetOf(uid, version string) core.Fleet {
	credentials, _ := core.NewCredentials("admin", "secret-1")
	return core.NewFleet(credentials, core.Endpoint{
		Identity: core.Identity{Namespace: "lb", Name: "hap-0", UID: uid},
		Version:  core.ParseVersion(version),
	})
}

// No two of these lists mean the same, so no two may have the same digest.
func TestDigestTellsEffectsApart(t *testing.T) {
	key := core.PodKey{Namespace: "lb", Name: "hap-0"}
	other, _ := core.NewCredentials("admin", "secret-2")
	id := core.Identity{Namespace: "lb", Name: "hap-0", UID: "u1", RuntimeID: "r", URL: "http://x"}
	rejected := core.HAProxyPodRejected{Namespace: "lb", Name: "hap-0", UID: "u1"}
	lists := [][]core.Effect{
		nil,
		{nil},
		{nil, nil},
		{core.Publish{}},
		{core.CancelProbe{Probe: 1}},
		{core.StopTimer{Timer: 1}},
		{core.StartTimer{Timer: 1}},
		{core.StartTimer{Timer: 1, After: time.Second}},
		{core.CancelProbe{Probe: 1}, core.StopTimer{Timer: 1}},
		{core.StopTimer{Timer: 1}, core.CancelProbe{Probe: 1}},
		{core.Refuse{Reason: "ab"}, core.Refuse{Reason: "c"}},
		{core.Refuse{Reason: "a"}, core.Refuse{Reason: "bc"}},
		{core.StartProbe{Probe: 1, Identity: id, Timeout: time.Second}},
		{core.StartProbe{Probe: 1, Identity: id, Timeout: time.Minute}},
		{core.StartProbe{Probe: 1, Identity: id, Timeout: time.Second, Credentials: other}},
		{core.Publish{Event: core.HAProxyPodTerminated{Identity: id, Cause: core.CauseDeleted}}},
		{core.Publish{Event: core.HAProxyPodTerminated{Identity: id, Cause: core.CauseReplaced}}},
		{core.Publish{Event: rejected}},
		{core.Publish{Event: core.HAProxyPodRejected{Namespace: "lbhap", Name: "-0", UID: "u1"}}},
		{discoveredOf(func(*core.HAProxyPodsDiscovered) {})},
		{discoveredOf(func(e *core.HAProxyPodsDiscovered) { e.Generation++ })},
		{discoveredOf(func(e *core.HAProxyPodsDiscovered) { e.Replay = true })},
		{discoveredOf(func(e *core.HAProxyPodsDiscovered) { e.CredentialsChanged = true })},
		{discoveredOf(func(e *core.HAProxyPodsDiscovered) { e.Trigger = "timer_fired" })},
		{discoveredOf(func(e *core.HAProxyPodsDiscovered) { e.Updated, e.Added = e.Added, nil })},
		{discoveredOf(func(e *core.HAProxyPodsDiscovered) { e.Removed = []core.PodKey{key} })},
		{discoveredOf(func(e *core.HAProxyPodsDiscovered) { e.Fleet = fleetOf("u2", "3.4.3") })},
		{discoveredOf(func(e *core.HAProxyPodsDiscovered) { e.Fleet = fleetOf("u1", "3.5") })},
		{discoveredOf(func(e *core.HAProxyPodsDiscovered) { e.Fleet = core.Fleet{} })},
		{discoveredOf(func(e *core.HAProxyPodsDiscovered) {
			e.Fleet = core.NewFleet(other, e.Fleet.Endpoints()...)
		})},
	}
	for _, change := range []func(*core.HAProxyPodRejected){
		func(e *core.HAProxyPodRejected) { e.Namespace = "other" },
		func(e *core.HAProxyPodRejected) { e.Name = "hap-1" },
		func(e *core.HAProxyPodRejected) { e.UID = "u2" },
		func(e *core.HAProxyPodRejected) { e.Reason = core.ReasonAgentUnreachable },
		func(e *core.HAProxyPodRejected) { e.Cause = core.CauseTimeout },
		func(e *core.HAProxyPodRejected) { e.Detail = "no answer" },
		func(e *core.HAProxyPodRejected) { e.Attempt = 1 },
		func(e *core.HAProxyPodRejected) { e.RetryIn = time.Second },
	} {
		changed := rejected
		change(&changed)
		lists = append(lists, []core.Effect{core.Publish{Event: changed}})
	}
	digester, seen := NewDigester(), map[string]int{}
	for i, list := range lists {
		digest := digester.Sum(list)
		if len(digest) != 32 {
			t.Errorf("list %d has the digest %q", i, digest)
		}
		if before, found := seen[digest]; found {
			t.Errorf("lists %d and %d have the same digest", before, i)
		}
		seen[digest] = i
		if again := NewDigester().Sum(list); again != digest {
			t.Errorf("list %d has two digests", i)
		}
	}
}

// The digest is part of the format: a replay by a later build must come to the same.
func TestDigestIsPinned(t *testing.T) {
	const want = "2b31fa393fb1237fd26ef2a70307ad8b"
	effects := []core.Effect{
		core.CancelProbe{Probe: 300}, discoveredOf(func(*core.HAProxyPodsDiscovered) {}),
	}
	if got := NewDigester().Sum(effects); got != want {
		t.Errorf("the digest is %s, not %s", got, want)
	}
}
