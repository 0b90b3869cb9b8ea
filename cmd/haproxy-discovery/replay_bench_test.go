package main

import (
	"bytes"
	"fmt"
	"net/netip"
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
	credentials, err := core.NewCredentials("admin", "secret")
	if err != nil {
		b.Fatal(err)
	}
	busy := record(b)
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
		effects := busy.take(midnight, waiting[0])
		waiting = waiting[1:]
		for _, effect := range effects {
			if start, is := effect.(core.StartProbe); is {
				waiting = append(waiting,
					core.ProbeFinished{Probe: start.Probe, Outcome: core.Answer{Version: "3.4.3"}})
			}
		}
	}
	return busy.log()
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
		replayWhole(b, log, inputs, check)
	}
	b.ReportMetric(float64(inputs)*float64(b.N)/b.Elapsed().Seconds(), "inputs/s")
}

// BenchmarkReplayOfADay is the replay of a day of 10,000 pods and some 310,000 inputs, among them
// 1,439 drift ticks. The check is to cost little beside the replay: "checked/plain" is the time
// with it by the time without.
func BenchmarkReplayOfADay(b *testing.B) {
	day := simulatedDay(b, 10_000, 24*time.Hour)
	log := day.log()
	var plain, checked time.Duration
	for b.Loop() {
		begun := time.Now()
		replayWhole(b, log, day.inputs, false)
		half := time.Now()
		replayWhole(b, log, day.inputs, true)
		plain, checked = plain+half.Sub(begun), checked+time.Since(half)
	}
	b.ReportMetric(plain.Seconds()/float64(b.N), "plain-s")
	b.ReportMetric(checked.Seconds()/float64(b.N), "checked-s")
	b.ReportMetric(checked.Seconds()/plain.Seconds(), "checked/plain")
	b.ReportMetric(float64(day.inputs), "inputs")
}

func replayWhole(tb testing.TB, log []byte, inputs int, check bool) {
	tb.Helper()
	result, err := replay.Run(tb.Context(), inputlog.NewReader(bytes.NewReader(log)), replay.Options{
		Check:  check,
		Step:   func(output.Step) error { return nil },
		Turn:   func(output.Turn) error { return nil },
		Warn:   func(text string) { tb.Fatal(text) },
		Failed: func(text string) { tb.Fatal(text) },
	})
	if err != nil || result.Inputs != inputs {
		tb.Fatal(result.Inputs, err)
	}
}
