package effects

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// BenchmarkProbe compares a probe with the barest request that opens a connection each time.
func BenchmarkProbe(b *testing.B) {
	for _, size := range []int{len(validDocument) + 10, 50_000, 1 << 20} {
		agent := newHTTPAgent(b, answering(padded(size)))
		b.Run(fmt.Sprintf("probe/%dB", size), func(b *testing.B) {
			prober := newTestProber(b, TLSFiles{})
			probe := probeOf(b, agent.URL, ampleTime)
			b.ReportAllocs()
			for b.Loop() {
				if outcome := prober.Probe(context.Background(), probe); outcome != core.Outcome(validAnswer) {
					b.Fatal(outcome)
				}
			}
		})
		b.Run(fmt.Sprintf("client/%dB", size), func(b *testing.B) {
			client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
			b.ReportAllocs()
			for b.Loop() {
				response, err := client.Get(agent.URL + statePath)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := io.Copy(io.Discard, response.Body); err != nil {
					b.Fatal(err)
				}
				response.Body.Close()
			}
		})
	}
}
