package fuzz

import (
	"slices"

	"pgregory.net/rapid"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/fuzz/story"
)

// settle ends the chaos (I10): what the gate still waits for comes in, every agent answers with a
// version, every timer fires; finitely many steps later the fleet is complete and all is quiet.
func (m *machine) settle(t *rapid.T) {
	m.completeGate(t)
	// Each pod and each probe outstanding costs a bounded number of steps.
	limit := 10 + 4*(len(m.outstanding)+len(m.armed)+m.state.Len())
	for steps := 0; len(m.outstanding)+len(m.armed) > 0; steps++ {
		if steps > limit {
			t.Fatalf("I10: not quiet after %d steps: %d probes outstanding, %d timers armed",
				steps, len(m.outstanding), len(m.armed))
		}
		if len(m.outstanding) > 0 {
			probe := sortedKeys(m.outstanding)[0]
			m.step(t, core.ProbeFinished{Probe: probe, Outcome: core.Answer{Version: "3.4.3"}})
			continue
		}
		m.step(t, core.TimerFired{Timer: sortedKeys(m.armed)[0]})
	}
	m.checkComplete(t)
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

// checkComplete compares the fleet, and what is published of it, with a fresh look at the facts.
func (m *machine) checkComplete(t *rapid.T) {
	settings, _ := m.state.Settings()
	question := core.Discovery{
		Config: m.state.Config(), AgentPort: settings.AgentPort, PodSelector: settings.PodSelector,
	}
	pods := make([]*core.Pod, 0, m.state.Len())
	for standing := range m.state.Standings() {
		pods = append(pods, standing.Pod)
	}
	candidates, err := question.Candidates(pods, m.state.Credentials())
	if err != nil {
		t.Fatalf("asking for the candidates: %v", err)
	}
	var want []core.Identity
	for _, candidate := range candidates {
		want = append(want, candidate.Identity)
	}
	published, _, _ := m.state.Published()
	for name, fleet := range map[string]core.Fleet{
		"admitted": m.state.Admitted(), "published": published,
	} {
		var got []core.Identity
		for endpoint := range fleet.All() {
			got = append(got, endpoint.Identity)
			if !endpoint.Version.Known() {
				t.Errorf("I10: the version of %s is still unknown", endpoint.Key())
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("I10: %s are %v instead of %v", name, got, want)
		}
		if fleet.Credentials() != m.state.Credentials() {
			t.Errorf("I10: the %s fleet has old credentials", name)
		}
	}
	if m.state.GateOpen() && (len(m.state.Timers()) > 0 || len(m.state.Probes()) > 0) {
		t.Errorf("I10: timers %v and %d probes are left", m.state.Timers(), len(m.state.Probes()))
	}
}
