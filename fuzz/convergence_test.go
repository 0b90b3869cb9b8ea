package fuzz

import (
	"pgregory.net/rapid"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/core/invariant"
	"github.com/haproxy-discovery/haproxy-discovery/fuzz/story"
)

// settle ends the chaos (I10): what the gate still waits for comes in, every agent answers with a
// version, every timer fires; then the fleet is complete and all is quiet.
func (m *machine) settle(t *rapid.T) {
	m.completeGate(t)
	report(t, "rest", invariant.Converge(m.state,
		func(_ core.State, input core.Input) (core.State, []core.Effect) {
			m.step(t, input)
			return m.state, nil
		}))
	// What the state says of itself is what its effects have asked for.
	if len(m.outstanding)+len(m.armed) > 0 {
		t.Errorf("I10: at rest, but outstanding %v, armed %v", m.outstanding, m.armed)
	}
}

func (m *machine) completeGate(t *rapid.T) {
	if _, configured := m.state.Settings(); !configured {
		m.step(t, core.ConfigValidated{AgentPort: 5555, PodSelector: "app=lb"})
	}
	if m.state.Credentials().IsZero() {
		m.step(t, core.CredentialsUpdated{Credentials: story.Credentials[0]})
	}
	if !m.storeSet {
		m.step(t, core.PodStoreSet{Pods: m.listWorld(), Synced: core.SyncPending})
	}
	if !m.state.StoreSynced() && !m.state.GateOpen() {
		m.step(t, core.ResourceSyncComplete{Resource: core.HAProxyPods, Pods: m.listWorld()})
	}
}
