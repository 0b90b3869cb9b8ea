package fuzz

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/fuzz/story"
)

// TestReduce lets an unruly world loose on the reducer. After each step all invariants hold; after
// all, no older state has changed, and once the chaos ends, the fleet is complete (I1 to I10).
func TestReduce(t *testing.T) { rapid.Check(t, tellStory) }

func tellStory(t *rapid.T) {
	m := newMachine(drawCaps(t))
	if rapid.IntRange(0, 3).Draw(t, "gate opens early") > 0 {
		m.openGate(t)
	}
	t.Repeat(m.actions())
	m.settle(t)
	m.checkPast(t)
}

// drawCaps: small bounds are reached quickly; the large ones are those of production.
func drawCaps(t *rapid.T) core.Config {
	return rapid.SampledFrom([]core.Config{
		{MaxProbes: 2, MaxRetries: 1, MaxRetryDelay: 2 * time.Second},
		{MaxProbes: 1, MaxRetries: 1, MaxProbeTimeout: 2 * time.Second},
		{MaxProbes: 3, MaxRetries: 2},
		{MaxProbes: 16, MaxRetries: 12},
	}).Draw(t, "caps")
}

func (m *machine) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"change world":    m.changeWorld,
		"change and tell": m.changeAndTell,
		"any input":       func(t *rapid.T) { m.step(t, m.drawInput(t, m.state)) },
		"index":           m.index,
		"outage":          m.outage,
		"strike":          m.strike,
		"drift": func(t *rapid.T) {
			m.step(t, core.DriftPreventionTriggered{Pods: m.drawList(t)})
		},
		"finish probe":     m.finishProbe,
		"finish probe too": m.finishProbe,
		"finish old probe": m.finishOldProbe,
		"fire timer":       m.fireTimer,
		"fire timer too":   m.fireTimer,
		"fire old timer":   m.fireOldTimer,
		"rotate":           func(t *rapid.T) { m.step(t, drawCredentials(t)) },
		"fork":             m.fork,
		"restore":          func(t *rapid.T) { m.twin.restart(t, m.state) },
	}
}

func (m *machine) openGate(t *rapid.T) {
	for range rapid.IntRange(0, len(keys)).Draw(t, "pods") {
		m.changeWorld(t)
	}
	m.step(t, core.ConfigValidated{AgentPort: 5555, PodSelector: "app=lb"})
	m.step(t, core.CredentialsUpdated{Credentials: story.Credentials[0]})
	m.step(t, core.PodStoreSet{Pods: m.listWorld(), Synced: core.SyncDone})
}

// changeAndTell is what happens all day: a pod changes, and its key is named.
func (m *machine) changeAndTell(t *rapid.T) {
	m.changeWorld(t)
	in := core.ResourceIndexUpdated{Resource: core.HAProxyPods, Upserted: m.listWorld()}
	for standing := range m.state.Standings() {
		if m.world[standing.Pod.Key] == nil {
			in.Deleted = append(in.Deleted, core.PodRef{
				Key: standing.Pod.Key, UID: standing.Pod.UID,
			})
		}
	}
	m.step(t, in)
}

// outage lets all agents fail, and has them all retried: that is how places run out.
func (m *machine) outage(t *rapid.T) {
	if len(m.outstanding) == 0 {
		t.Skip("no probe is outstanding")
	}
	for _, probe := range sortedKeys(m.outstanding) {
		m.step(t, core.ProbeFinished{
			Probe: probe, Outcome: core.Failure{Cause: core.CauseRefused},
		})
	}
	m.step(t, core.DriftPreventionTriggered{Pods: m.listWorld()})
}

// strike takes away the pod whose probe is in flight; it may come back at once.
func (m *machine) strike(t *rapid.T) {
	probes := slices.DeleteFunc(m.state.Probes(), func(p core.OutstandingProbe) bool {
		return p.Cancelled
	})
	if len(probes) == 0 {
		t.Skip("no probe is in flight")
	}
	probe := rapid.SampledFrom(probes).Draw(t, "probe")
	key := probe.Identity.Key()
	standing, _ := m.state.Standing(key)
	m.step(t, core.ResourceIndexUpdated{
		Resource: core.HAProxyPods, Deleted: []core.PodRef{{Key: key, UID: probe.Identity.UID}},
	})
	delete(m.world, key)
	if rapid.Bool().Draw(t, "comes back") {
		m.world[key] = standing.Pod
		m.step(t, core.ResourceIndexUpdated{
			Resource: core.HAProxyPods, Upserted: []*core.Pod{standing.Pod},
		})
	}
}

func (m *machine) index(t *rapid.T) {
	m.step(t, core.ResourceIndexUpdated{
		Resource: core.HAProxyPods, Upserted: m.drawUpserted(t), Deleted: m.drawDeleted(t, m.state),
	})
}

func (m *machine) finishProbe(t *rapid.T) {
	if len(m.outstanding) == 0 {
		t.Skip("no probe is outstanding")
	}
	probe := rapid.SampledFrom(sortedKeys(m.outstanding)).Draw(t, "probe")
	m.step(t, core.ProbeFinished{Probe: probe, Outcome: drawOutcome(t)})
}

func (m *machine) finishOldProbe(t *rapid.T) {
	if len(m.finished) == 0 {
		t.Skip("no probe has finished")
	}
	probe := rapid.SampledFrom(m.finished).Draw(t, "probe")
	m.step(t, core.ProbeFinished{Probe: probe, Outcome: drawOutcome(t)})
}

func (m *machine) fireTimer(t *rapid.T) {
	if len(m.armed) == 0 {
		t.Skip("no timer is armed")
	}
	timer := rapid.SampledFrom(sortedKeys(m.armed)).Draw(t, "timer")
	m.step(t, core.TimerFired{Timer: timer})
}

func (m *machine) fireOldTimer(t *rapid.T) {
	if len(m.disarmed) == 0 {
		t.Skip("no timer was disarmed")
	}
	timer := rapid.SampledFrom(m.disarmed).Draw(t, "timer")
	m.step(t, core.TimerFired{Timer: timer})
}
