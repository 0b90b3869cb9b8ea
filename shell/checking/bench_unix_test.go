//go:build unix

package checking

import (
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell"
)

// BenchmarkLoop is what the checks cost a component at its busiest, a cold start: each step is a
// probe's answer and the start of another probe. Runs with and without the checks take turns; the
// figures are medians.
//
//   - added-loop-% is the time that the checker takes of the loop, of the time of a step. To be
//     under 5.
//   - cpu-ratio is the processor time of a run with the checks against the one without: the checks
//     go on beside the loop, but they are not free. checks-cpu-ns is the difference per step.
//   - time-ratio compares the time of whole runs. Where the probes keep all processors busy, the
//     checks take theirs from them.
//
// With instant agents nothing else is measured; over HTTP, one agent in the same process is.
func BenchmarkLoop(b *testing.B) {
	b.Run("agents=instant", func(b *testing.B) { benchmarkLoop(b, 5_000, instant()) })
	b.Run("agents=http", func(b *testing.B) { benchmarkLoop(b, 1_000, overHTTP(b)) })
}

func benchmarkLoop(b *testing.B, pods int, agents agents) {
	var added, cpu, wall, checks, step []float64
	for b.Loop() {
		without := measure(b, pods, agents)
		checker := &timed{Checker: New(nil, nil)}
		with := measure(b, pods, agents, checker)
		if checker.Unchecked() > 0 || checker.total() > 0 {
			b.Fatalf("%d unchecked, violations %v", checker.Unchecked(), checker.Violations())
		}
		added = append(added, 100*float64(checker.spent-checker.clock())/float64(with.wall))
		cpu = append(cpu, float64(with.cpu)/float64(without.cpu))
		wall = append(wall, float64(with.wall)/float64(without.wall))
		checks = append(checks, float64(with.cpu-without.cpu)/float64(with.steps))
		step = append(step, float64(without.wall)/float64(without.steps))
	}
	b.ReportMetric(median(added), "added-loop-%")
	b.ReportMetric(median(cpu), "cpu-ratio")
	b.ReportMetric(median(wall), "time-ratio")
	b.ReportMetric(median(checks), "checks-cpu-ns")
	b.ReportMetric(median(step), "ns/step")
}

// run is what one run of a component took.
type run struct {
	steps     int
	wall, cpu time.Duration
}

func measure(b *testing.B, pods int, agents agents, observers ...shell.Observer) run {
	begun, cpu := time.Now(), processorTime()
	steps := coldStart(b, pods, agents, observers...)
	return run{steps: steps, wall: time.Since(begun), cpu: processorTime() - cpu}
}

func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// timed measures what a checker takes of the loop.
type timed struct {
	*Checker
	steps int
	spent time.Duration
}

func (t *timed) Taken(at time.Time, input core.Input) { t.Checker.Taken(at, input) }

func (t *timed) Reduced(step shell.Step) {
	begun := time.Now()
	t.Checker.Reduced(step)
	t.spent += time.Since(begun)
	t.steps++
}

// clock is what measuring itself has cost.
func (t *timed) clock() time.Duration {
	spent := time.Duration(0)
	for range t.steps {
		one := time.Now()
		spent += time.Since(one)
	}
	return spent
}
