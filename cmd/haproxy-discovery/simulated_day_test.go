package main

import (
	"container/heap"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell/inputlog"
)

// recorded is a run that is recorded by the real writer.
type recorded struct {
	tb     testing.TB
	path   string
	writer *inputlog.Writer
	state  core.State
	inputs int
	// written is what the writer had written when the batch began that is under way.
	written int64
}

// batch is how many records are given to the writer before it is waited for. They fit into one
// write of it, so that it never lags by more than two batches: its queue is bounded.
const batch = 100

func record(tb testing.TB) *recorded {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "inputs.jsonl")
	writer, err := inputlog.Open(path, inputlog.Run{Build: "bench", Started: midnight}, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return &recorded{
		tb: tb, path: path, writer: writer, state: core.New(core.Config{}), written: writer.Bytes(),
	}
}

// take records and reduces an input.
func (r *recorded) take(at time.Time, input core.Input) []core.Effect {
	r.writer.Append(at, input)
	next, effects := core.Reduce(r.state, input)
	r.writer.Effects(effects, next)
	r.state = next
	if r.inputs++; r.inputs%batch == 0 {
		for r.writer.Bytes() == r.written && r.writer.Err() == nil {
			time.Sleep(50 * time.Microsecond)
		}
		r.written = r.writer.Bytes()
	}
	return effects
}

// log is all that was recorded.
func (r *recorded) log() []byte {
	r.tb.Helper()
	if err := r.writer.Close(); err != nil {
		r.tb.Fatal(err)
	}
	content, err := os.ReadFile(r.path)
	if err != nil {
		r.tb.Fatal(err)
	}
	return content
}

var midnight = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// simulation is a day of a fleet on a virtual clock, the same one each time: a drift tick a minute,
// and four rollouts that replace every pod, of which each refuses its first probe.
type simulation struct {
	*recorded
	now time.Time
	// coming is what will happen; of what happens at the same time, the first planned comes first.
	coming  plan
	planned int
	stopped map[core.TimerID]bool
	// pods are the store's, in the order of their keys.
	pods    []*core.Pod
	refused map[string]bool // by UID
}

const (
	rollouts     = 4
	probeLatency = 20 * time.Millisecond
)

// simulatedDay records a day of so many pods; a shorter day has as much in it per hour.
func simulatedDay(tb testing.TB, pods int, length time.Duration) *recorded {
	tb.Helper()
	s := &simulation{
		recorded: record(tb), now: midnight,
		stopped: map[core.TimerID]bool{}, refused: map[string]bool{},
	}
	credentials, err := core.NewCredentials("admin", "pass-word-1")
	if err != nil {
		tb.Fatal(err)
	}
	for i := range pods {
		s.pods = append(s.pods, simulatedPod(i, 0))
	}
	s.feed(core.ConfigValidated{AgentPort: 5555})
	s.feed(core.CredentialsUpdated{Credentials: credentials})
	s.feed(core.PodStoreSet{Pods: slices.Clone(s.pods), Synced: core.SyncDone})
	for at := time.Minute; at < length; at += time.Minute {
		s.plan(at, func() {
			s.feed(core.DriftPreventionTriggered{Pods: slices.Clone(s.pods)})
		})
	}
	for rollout := range rollouts {
		for i := range pods {
			begin := length*time.Duration(2*rollout+1)/(2*rollouts) +
				length/(4*rollouts)*time.Duration(i)/time.Duration(pods)
			s.plan(begin, func() { s.replace(i, rollout+1) })
		}
	}
	for len(s.coming) > 0 {
		next := heap.Pop(&s.coming).(happening)
		if next.at.Sub(midnight) >= length {
			break
		}
		s.now = next.at
		next.happen()
	}
	return s.recorded
}

func simulatedPod(i, generation int) *core.Pod {
	return &core.Pod{
		Key:    core.PodKey{Namespace: "lb", Name: fmt.Sprintf("hap-%05d", i)},
		UID:    fmt.Sprintf("u%d-%d", i, generation),
		Labels: map[string]string{"app.kubernetes.io/component": "loadbalancer"},
		IP:     netip.AddrFrom4([4]byte{10, byte(generation), byte(i / 250), byte(i % 250)}),
		Phase:  core.PhaseRunning, Agent: core.AgentRunning,
		RuntimeID: core.RuntimeID(fmt.Sprintf("%064x", i<<8|generation)),
	}
}

// replace lets a pod go and its successor come up as a kubelet reports it.
func (s *simulation) replace(i, generation int) {
	s.feed(core.ResourceIndexUpdated{
		Resource: core.HAProxyPods,
		Deleted:  []core.PodRef{{Key: s.pods[i].Key, UID: s.pods[i].UID}},
	})
	running := simulatedPod(i, generation)
	waiting, pending := *running, *running
	waiting.Agent, waiting.RuntimeID = core.AgentWaiting, ""
	pending.Phase, pending.IP, pending.Agent = "Pending", netip.Addr{}, core.AgentMissing
	for second, pod := range []*core.Pod{&pending, &waiting, running} {
		s.plan(s.now.Sub(midnight)+time.Duration(second)*time.Second, func() {
			s.pods[i] = pod
			s.feed(core.ResourceIndexUpdated{
				Resource: core.HAProxyPods, Upserted: []*core.Pod{pod},
			})
		})
	}
}

// feed takes an input and plans what its effects lead to.
func (s *simulation) feed(input core.Input) {
	for _, effect := range s.take(s.now, input) {
		switch e := effect.(type) {
		case core.StartProbe:
			s.plan(s.now.Sub(midnight)+probeLatency, func() {
				s.feed(core.ProbeFinished{Probe: e.Probe, Outcome: s.outcome(e.Identity)})
			})
		case core.StartTimer:
			s.plan(s.now.Sub(midnight)+e.After, func() {
				if !s.stopped[e.Timer] {
					s.feed(core.TimerFired{Timer: e.Timer})
				}
				delete(s.stopped, e.Timer)
			})
		case core.StopTimer:
			s.stopped[e.Timer] = true
		}
	}
}

// outcome is a refusal at the first attempt.
func (s *simulation) outcome(identity core.Identity) core.Outcome {
	if !s.refused[identity.UID] {
		s.refused[identity.UID] = true
		return core.Failure{Cause: core.CauseRefused, Detail: "connection refused"}
	}
	return core.Answer{Version: "3.4.3", FullVersion: "3.4.3-1"}
}

func (s *simulation) plan(at time.Duration, happen func()) {
	s.planned++
	heap.Push(&s.coming, happening{midnight.Add(at), s.planned, happen})
}

type happening struct {
	at     time.Time
	number int
	happen func()
}

// plan is a heap of what comes, the earliest first.
type plan []happening

func (p plan) Len() int { return len(p) }
func (p plan) Less(i, j int) bool {
	return p[i].at.Before(p[j].at) || p[i].at.Equal(p[j].at) && p[i].number < p[j].number
}
func (p plan) Swap(i, j int)  { p[i], p[j] = p[j], p[i] }
func (p *plan) Push(next any) { *p = append(*p, next.(happening)) }
func (p *plan) Pop() any {
	last := (*p)[len(*p)-1]
	*p = (*p)[:len(*p)-1]
	return last
}
