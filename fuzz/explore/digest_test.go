package explore

import (
	"testing"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

func BenchmarkDigest(b *testing.B) {
	state := core.New(caps)
	for _, input := range opened(pod("a", "u1"), pod("b", "u1"), pod("c", "u1")) {
		state, _ = core.Reduce(state, input)
	}
	state, _ = core.Reduce(state, core.ProbeFinished{Probe: 1, Outcome: answer})
	digester := newDigester()
	b.ReportAllocs()
	for b.Loop() {
		digester.sum(state)
	}
}
