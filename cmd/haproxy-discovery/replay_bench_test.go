package main

import (
	"bytes"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/cmd/haproxy-discovery/internal/output"
	"github.com/haproxy-discovery/haproxy-discovery/cmd/haproxy-discovery/internal/replay"
	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell/inputlog"
)

// busyLog is a log of small inputs: of 100 pods, one after the other is replaced and probed.
func busyLog(b *testing.B, inputs int) []byte {
	b.Helper()
	path := filepath.Join(b.TempDir(), "busy.jsonl")
	credentials, err := core.NewCredentials("admin", "secret")
	if err != nil {
		b.Fatal(err)
	}
	writer, err := inputlog.Open(path, inputlog.Run{Build: "bench", Started: time.Now()}, nil)
	if err != nil {
		b.Fatal(err)
	}
	state := core.New(core.Config{})
	waiting := []core.Input{
		core.ConfigValidated{AgentPort: 5555}, core.CredentialsUpdated{Credentials: credentials},
		core.PodStoreSet{Synced: core.SyncDone},
	}
	for seq := range inputs {
		if len(waiting) == 0 {
			waiting = append(waiting, core.ResourceIndexUpdated{
				Resource: core.HAProxyPods, Upserted: []*core.Pod{{
					Key: core.PodKey{Namespace: "lb", Name: fmt.Sprintf("hap-%02d", seq%100)},
					UID: fmt.Sprintf("u%d", seq), IP: netip.AddrFrom4([4]byte{10, 1, 0, byte(seq)}),
					Phase: core.PhaseRunning, Agent: core.AgentRunning, RuntimeID: "r1",
				}},
			})
		}
		writer.Append(time.Now(), waiting[0])
		next, effects := core.Reduce(state, waiting[0])
		writer.Effects(effects)
		state, waiting = next, waiting[1:]
		for _, effect := range effects {
			if start, is := effect.(core.StartProbe); is {
				waiting = append(waiting,
					core.ProbeFinished{Probe: start.Probe, Outcome: core.Answer{Version: "3.4.3"}})
			}
		}
		if seq%200 == 0 {
			time.Sleep(time.Millisecond) // let the writer keep up: its queue is bounded
		}
	}
	if err := writer.Close(); err != nil {
		b.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	return content
}

// BenchmarkReplay is the replay of a log of small inputs, as `replay --check --quiet` does it; to be
// over 100,000 inputs a second.
func BenchmarkReplay(b *testing.B) {
	benchmarkReplay(b, true)
}

// BenchmarkReplayUnchecked is the same without the check.
func BenchmarkReplayUnchecked(b *testing.B) {
	benchmarkReplay(b, false)
}

func benchmarkReplay(b *testing.B, check bool) {
	const inputs = 20_000
	log := busyLog(b, inputs)
	for b.Loop() {
		result, err := replay.Run(b.Context(), inputlog.NewReader(bytes.NewReader(log)), replay.Options{
			Check:  check,
			Step:   func(output.Step) error { return nil },
			Warn:   func(text string) { b.Fatal(text) },
			Failed: func(text string) { b.Fatal(text) },
		})
		if err != nil || result.Inputs != inputs {
			b.Fatal(result.Inputs, err)
		}
	}
	b.ReportMetric(float64(inputs)*float64(b.N)/b.Elapsed().Seconds(), "inputs/s")
}
