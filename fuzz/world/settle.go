package world

import (
	"slices"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/fuzz/oracle"
)

// settle ends the chaos: agents are well and know everything, the store has heard of everything and
// is read once more. Then everything runs its course, and the consumer must know the truth (I10).
func (w *World) settle() {
	w.calm, w.stale = true, false
	w.noise.begin(0)
	w.configureAtLast()
	for w.clock.clusterMoves() && w.failure == nil {
		w.pass(time.Second)
	}
	for at := range w.cluster.slots {
		s := &w.cluster.slots[at]
		s.held, s.told = s.pod, false
		s.agent = agent{version: s.agent.version, accepts: everybody}
	}
	w.completeSync()
	w.drift()
	w.runOut()
	if w.failure == nil {
		w.checkTruth()
	}
}

// configureAtLast brings what the gate has yet to see.
func (w *World) configureAtLast() {
	if !w.configured {
		w.configure()
	}
	if !w.authorized {
		w.authorize()
	}
	if !w.storeSet {
		w.setStore(core.SyncDone)
	}
}

// runOut lets happen what is pending, until nothing is. Each pod, probe and timer costs a bounded
// number of steps.
func (w *World) runOut() {
	limit := w.inputs + 50 + 40*len(w.cluster.slots)
	for len(w.clock.pending) > 0 && w.failure == nil {
		w.pass(time.Minute)
		if w.inputs > limit {
			w.fail("I10: not quiet after %d inputs", limit)
		}
	}
}

// checkTruth compares what the consumer holds with the pods that there are.
func (w *World) checkTruth() {
	c := &w.consumer
	if !c.told {
		w.fail("I10: nothing was published")
	}
	at := 0
	for _, slot := range w.inOrder() {
		pod := w.cluster.slots[slot].pod
		if pod == nil || !w.worthTalkingTo(pod) {
			continue
		}
		if at >= len(c.held) {
			w.fail("I10: %s is missing in the end", pod.Key)
			return
		}
		endpoint := &c.held[at]
		if endpoint.Key() != pod.Key || endpoint.UID != pod.UID ||
			endpoint.RuntimeID != pod.RuntimeID || addressOf[endpoint.URL] != pod.IP {
			w.fail("I10: %+v is held instead of %+v", endpoint.Identity, *pod)
		}
		if !endpoint.Version.Known() {
			w.fail("I10: the version of %s is unknown in the end", pod.Key)
		}
		at++
	}
	if at != len(c.held) {
		w.fail("I10: %d endpoints are held instead of %d", len(c.held), at)
	}
	if timers, probes := w.state.Timers(), w.state.Probes(); len(timers)+len(probes) > 0 {
		w.fail("I10: timers %v and %d probes are left", timers, len(probes))
	}
	w.askCandidates()
}

// worthTalkingTo is what a person would say of a pod.
func (w *World) worthTalkingTo(pod *core.Pod) bool {
	return pod.Phase == core.PhaseRunning && !pod.Terminating && pod.Malformed == "" &&
		pod.IP.IsValid() && pod.Agent == core.AgentRunning &&
		oracle.Selects(w.config.PodSelector, pod.Labels)
}

// inOrder lists the slots in the order of their keys.
func (w *World) inOrder() []int {
	order := make([]int, len(w.cluster.slots))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return slotKeys[a].Compare(slotKeys[b]) })
	return order
}

// askCandidates asks the question without history, which must have the same answer.
func (w *World) askCandidates() {
	question := core.Discovery{
		Config: w.state.Config(), AgentPort: w.config.AgentPort, PodSelector: w.config.PodSelector,
	}
	candidates, err := question.Candidates(w.list(), w.state.Credentials())
	if err != nil {
		w.fail("candidates: %v", err)
		return
	}
	if !slices.EqualFunc(candidates, w.consumer.held, func(c core.Candidate, e core.Endpoint) bool {
		return c.Identity == e.Identity && c.Credentials == e.Credentials
	}) {
		w.fail("I10: %v are candidates, %v are held", candidates, w.consumer.held)
	}
}
