package checking

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell"
)

// history gives the steps of a fleet in which one pod after the other is replaced and answers, as a
// component's loop would tell them.
type history struct {
	seq     uint64
	state   core.State
	pods    int
	waiting []core.Input
}

func newHistory(pods int) *history {
	credentials, err := core.NewCredentials("admin", password)
	if err != nil {
		panic(err)
	}
	return &history{state: core.New(core.Config{}), pods: pods, waiting: []core.Input{
		core.ConfigValidated{AgentPort: 5555},
		core.CredentialsUpdated{Credentials: credentials},
		core.PodStoreSet{Synced: core.SyncDone},
	}}
}

func (h *history) step() shell.Step {
	if len(h.waiting) == 0 {
		number := int(h.seq)
		h.waiting = append(h.waiting, core.ResourceIndexUpdated{
			Resource: core.HAProxyPods, Upserted: []*core.Pod{{
				Key: core.PodKey{Namespace: "lb", Name: fmt.Sprintf("hap-%d", number%h.pods)},
				UID: fmt.Sprintf("u%d", number), IP: netip.AddrFrom4([4]byte{10, 1, 0, byte(number)}),
				Phase: core.PhaseRunning, Agent: core.AgentRunning, RuntimeID: "r",
			}},
		})
	}
	input := h.waiting[0]
	h.waiting = h.waiting[1:]
	before := h.state
	after, effects := core.Reduce(before, input)
	h.state = after
	for _, effect := range effects {
		if start, is := effect.(core.StartProbe); is {
			h.waiting = append(h.waiting,
				core.ProbeFinished{Probe: start.Probe, Outcome: core.Answer{Version: "3.4.3"}})
		}
	}
	h.seq++
	return shell.Step{
		Seq: h.seq, Time: time.Now(),
		Step: core.Step{Before: before, Input: input, After: after, Effects: effects},
	}
}
