package inputlog

import (
	"bytes"
	"io"
	"os"
	"runtime"
	"testing"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

func smallInputs() map[string]core.Input {
	return map[string]core.Input{
		"index": core.ResourceIndexUpdated{
			Resource: core.HAProxyPods, Upserted: []*core.Pod{podOf(7, "3f0e9d4c")},
		},
		"probe": core.ProbeFinished{Probe: 9, Outcome: core.Answer{Version: "3.4.3"}},
		"timer": core.TimerFired{Timer: 12},
	}
}

// BenchmarkAppend is what recording costs the loop, one record.
func BenchmarkAppend(b *testing.B) {
	w := open(b, os.DevNull, nil)
	input, effects := smallInputs()["index"], []core.Effect{core.CancelProbe{Probe: 3}}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		if i%(queuedRecords/2) == 0 {
			b.StopTimer()
			for len(w.queue) > 0 {
				runtime.Gosched()
			}
			b.StartTimer()
		}
		w.Append(someTime, input)
		w.Effects(effects, core.State{})
	}
	b.StopTimer()
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkEncode is what a record costs the writer's goroutine, the disk aside.
func BenchmarkEncode(b *testing.B) {
	for name, input := range smallInputs() {
		b.Run(name, func(b *testing.B) {
			var r recorder
			r.digester.password = r.encoder.secrets.of
			b.ReportAllocs()
			for b.Loop() {
				r.take(message{isInput: true, at: someTime, input: input})
				r.take(message{})
				r.buffer = r.buffer[:0]
			}
		})
	}
}

// BenchmarkRead is a record read.
func BenchmarkRead(b *testing.B) {
	const records = 400
	for name, input := range smallInputs() {
		inputs := make([]core.Input, records)
		for i := range inputs {
			inputs[i] = input
		}
		log := recorded(b, inputs...)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N/records + 1 {
				reader := NewReader(bytes.NewReader(log))
				for {
					if _, err := reader.Next(); err == io.EOF {
						break
					} else if err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "records/s")
		})
	}
}

// BenchmarkDriftTick is an unchanged list of 10,000 pods, as equal copies.
func BenchmarkDriftTick(b *testing.B) {
	lists := [][]*core.Pod{podsOf(10_000), podsOf(10_000)}
	var e encoder
	e.driftTriggered(core.DriftPreventionTriggered{Pods: lists[1]})
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		e.json.Reset()
		e.driftTriggered(core.DriftPreventionTriggered{Pods: lists[i%2]})
	}
}
