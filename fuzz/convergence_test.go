package fuzz

import (
	"pgregory.net/rapid"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/core/invariant"
)

// settle ends the chaos (I10): what the gate still waits for comes in, every agent answers with a
// version, every timer fires; as many steps later as were foreseen, the fleet is complete and all is
// quiet.
func (m *machine) settle(t *rapid.T) {
	m.completeGate(t)
	for limit := invariant.StepsToRest(m.state); ; limit-- {
		input, more := invariant.QuietInput(m.state)
		if !more {
			break
		}
		if limit == 0 {
			t.Fatalf("I10: not quiet in time: %d steps left", invariant.StepsToRest(m.state))
		}
		m.step(t, input)
	}
	report(t, "rest", invariant.AtRest(m.state))
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
		m.step(t, core.CredentialsUpdated{Credentials: credentials[0]})
	}
	if !m.facts.storeSet {
		m.step(t, core.PodStoreSet{Pods: m.listWorld(), Synced: core.SyncPending})
	}
	if !m.facts.synced && !m.state.GateOpen() {
		m.step(t, core.ResourceSyncComplete{Resource: core.HAProxyPods, Pods: m.listWorld()})
	}
}
