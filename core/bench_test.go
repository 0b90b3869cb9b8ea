package core_test

import (
	"fmt"
	"math"
	"net/netip"
	"runtime"
	"testing"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// Each benchmark runs against a fleet of n pods, all of them admitted and published.

func fleetPods(n int) []*core.Pod {
	pods := make([]*core.Pod, 0, n)
	for i := range n {
		pods = append(pods, fleetPod(i, 0))
	}
	return pods
}

func fleetPod(i, restarts int) *core.Pod {
	return &core.Pod{
		Key: core.PodKey{Namespace: "haproxy", Name: fmt.Sprintf("haproxy-%06d", i)},
		UID: fmt.Sprintf("9c5a1a52-8a5e-4a0e-9d8e-%012x", i),
		Labels: map[string]string{
			"app.kubernetes.io/component": "loadbalancer", "pod-template-hash": "6d4b75cb6d",
		},
		IP:        netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}),
		Phase:     core.PhaseRunning,
		Agent:     core.AgentRunning,
		RuntimeID: core.RuntimeID(fmt.Sprintf("%056x%08x", i, restarts)),
	}
}

func fleetOf(tb testing.TB, pods []*core.Pod) core.State {
	tb.Helper()
	state := core.New(core.Config{})
	for _, input := range []core.Input{
		core.ConfigValidated{
			AgentPort: 5555, PodSelector: "app.kubernetes.io/component=loadbalancer",
		},
		core.CredentialsUpdated{Credentials: credentials(tb, "admin", "a-pass")},
		core.PodStoreSet{Pods: pods, Synced: core.SyncDone},
	} {
		state, _ = core.Reduce(state, input)
	}
	state = answerAll(state)
	if fleet, _, _ := state.Published(); fleet.Len() != len(pods) {
		tb.Fatalf("%d of %d pods are published", fleet.Len(), len(pods))
	}
	return state
}

// answerAll has every agent answer. Probes are numbered in the order in which they start.
func answerAll(state core.State) core.State {
	answer := core.Answer{Version: "3.4.3"}
	for probes := state.Probes(); len(probes) > 0; probes = state.Probes() {
		for _, probe := range probes {
			state, _ = core.Reduce(state, core.ProbeFinished{Probe: probe.Probe, Outcome: answer})
		}
	}
	return state
}

// One pod restarts: terminated, published, probed, admitted, published; two steps.
func BenchmarkPodChange(b *testing.B) {
	for _, n := range []int{100, 100_000} {
		b.Run(fmt.Sprintf("pods=%d", n), func(b *testing.B) {
			state := fleetOf(b, fleetPods(n))
			changes := make([][]*core.Pod, 1000)
			for i := range changes {
				changes[i] = []*core.Pod{fleetPod(i*7919%n, 1+i/n)}
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				changed, _ := core.Reduce(state, core.ResourceIndexUpdated{
					Resource: core.HAProxyPods, Upserted: changes[i%len(changes)],
				})
				probe := changed.Probes()[0].Probe
				core.Reduce(changed, core.ProbeFinished{
					Probe: probe, Outcome: core.Answer{Version: "3.4.3"},
				})
			}
		})
	}
}

// A drift tick over a list that was read anew and holds the same facts.
func BenchmarkDriftPassUnchanged(b *testing.B) {
	state := fleetOf(b, fleetPods(10_000))
	again := core.DriftPreventionTriggered{Pods: fleetPods(10_000)}
	b.ReportAllocs()
	for b.Loop() {
		core.Reduce(state, again)
	}
}

// A pass over an unchanged list allocates for the step, and nothing for a pod: neither in number nor
// in bytes.
func TestDriftPassUnchangedAllocatesNothingPerPod(t *testing.T) {
	allocations := func(n int) (number float64, bytes uint64) {
		state := fleetOf(t, fleetPods(n))
		again := core.DriftPreventionTriggered{Pods: fleetPods(n)}
		pass := func() { core.Reduce(state, again) }
		number = testing.AllocsPerRun(10, pass)
		bytes = math.MaxUint64
		for range 10 { // the least: other goroutines may allocate, too
			before := allocatedBytes()
			pass()
			bytes = min(bytes, allocatedBytes()-before)
		}
		return number, bytes
	}
	few, fewBytes := allocations(10)
	many, manyBytes := allocations(2000)
	if many > few || manyBytes > fewBytes+2000 {
		t.Errorf("%v allocations of %d bytes for 2,000 pods, %v of %d for 10",
			many, manyBytes, few, fewBytes)
	}
}

func allocatedBytes() uint64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.TotalAlloc
}

// Each iteration rotates from the same state; the fleet is never touched.
func BenchmarkCredentialsRotated(b *testing.B) {
	state := fleetOf(b, fleetPods(100_000))
	rotated := core.CredentialsUpdated{Credentials: credentials(b, "admin", "b-pass")}
	b.ReportAllocs()
	for b.Loop() {
		core.Reduce(state, rotated)
	}
}

// What a state keeps alive for each pod: its facts, standing, admission and publication.
func BenchmarkStateSize(b *testing.B) {
	const pods = 100_000
	var state core.State
	for b.Loop() {
		state = core.State{}
		before := liveBytes()
		state = fleetOf(b, fleetPods(pods))
		b.ReportMetric(float64(liveBytes()-before)/pods, "bytes/pod")
	}
	b.ReportMetric(0, "ns/op")
	runtime.KeepAlive(state)
}

func TestStateKeepsLittlePerPod(t *testing.T) {
	const pods = 2000
	before := liveBytes()
	state := fleetOf(t, fleetPods(pods))
	perPod := (liveBytes() - before) / pods
	runtime.KeepAlive(state)
	if perPod >= 1536 {
		t.Errorf("%d bytes a pod are kept", perPod)
	}
}

func liveBytes() int64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

func BenchmarkColdStart(b *testing.B) {
	pods := fleetPods(10_000)
	b.ReportAllocs()
	for b.Loop() {
		fleetOf(b, pods)
	}
}
