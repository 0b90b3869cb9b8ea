package projection

import (
	"net/netip"
	"testing"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// history reduces inputs at times of its own and folds the steps.
type history struct {
	Projection
	t     *testing.T
	state core.State
	seq   uint64
	now   time.Time
	// started are the outstanding probes, cancelled ones included.
	started []core.StartProbe
	last    core.Step
}

func newHistory(t *testing.T) *history {
	return &history{
		t: t, state: core.New(core.Config{}),
		now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
	}
}

func (h *history) step(after time.Duration, input core.Input) {
	h.now = h.now.Add(after)
	h.seq++
	next, effects := core.Reduce(h.state, input)
	h.last = core.Step{Before: h.state, Input: input, After: next, Effects: effects}
	h.state = next
	for _, effect := range effects {
		if start, is := effect.(core.StartProbe); is {
			h.started = append(h.started, start)
		}
	}
	h.Projection = h.With(h.last, h.now)
}

// finish ends the oldest outstanding probe.
func (h *history) finish(after time.Duration, outcome core.Outcome) {
	h.t.Helper()
	if len(h.started) == 0 {
		h.t.Fatal("no probe is outstanding")
	}
	probe := h.started[0]
	h.started = h.started[1:]
	h.step(after, core.ProbeFinished{Probe: probe.Probe, Outcome: outcome})
}

func (h *history) open(pods ...*core.Pod) {
	h.t.Helper()
	h.step(0, core.ConfigValidated{AgentPort: 5555, PodSelector: "app=haproxy"})
	h.step(0, core.CredentialsUpdated{Credentials: credentials(h.t, "one")})
	h.step(0, core.PodStoreSet{Pods: pods, Synced: core.SyncDone})
}

func credentials(t *testing.T, password string) core.Credentials {
	t.Helper()
	credentials, err := core.NewCredentials("admin", password)
	if err != nil {
		t.Fatal(err)
	}
	return credentials
}

func pod(name, uid string, change ...func(*core.Pod)) *core.Pod {
	p := &core.Pod{
		Key: core.PodKey{Namespace: "lb", Name: name}, UID: uid,
		Labels: map[string]string{"app": "haproxy"},
		IP:     netip.MustParseAddr("10.1.0.10"), Phase: core.PhaseRunning,
		Agent: core.AgentRunning, RuntimeID: "r1",
	}
	for _, c := range change {
		c(p)
	}
	return p
}

func changed(pods ...*core.Pod) core.ResourceIndexUpdated {
	return core.ResourceIndexUpdated{Resource: core.HAProxyPods, Upserted: pods}
}
