package core_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// Retry delays double from 1 s to 30 s, each spread by up to 20 % either way and never over 30 s;
// the same identity has the same spread in every run, others differ (R23).
func TestRetryDelaysAreSpreadByIdentity(t *testing.T) {
	const pods = 200
	spreads := map[time.Duration]int{}
	for i := range pods {
		line := fmt.Sprintf("lb/hap-%d u%d 10.1.0.%d", i, i, i)
		delays := failedDelays(t, line, 8)
		for attempt, delay := range delays {
			nominal := min(time.Second<<attempt, 30*time.Second)
			if delay < nominal*8/10 || delay > min(nominal*12/10, 30*time.Second) {
				t.Errorf("%s: attempt %d is followed by %v, not about %v", line, attempt+1, delay, nominal)
			}
		}
		if again := failedDelays(t, line, 8); fmt.Sprint(again) != fmt.Sprint(delays) {
			t.Errorf("%s: %v at first, %v the second time", line, delays, again)
		}
		spreads[delays[0]]++
	}
	if len(spreads) < pods/2 {
		t.Errorf("only %d different delays for %d pods", len(spreads), pods)
	}
	early, late := 0, 0
	for delay, count := range spreads {
		if delay < 900*time.Millisecond {
			early += count
		}
		if delay > 1100*time.Millisecond {
			late += count
		}
	}
	if early < pods/8 || late < pods/8 {
		t.Errorf("%d early and %d late of %d: the spread is no spread", early, late, pods)
	}
}

// What is derived from an identity is the same in every build: else the log of an older one would
// replay with other effects (R23).
func TestSpreadIsPinned(t *testing.T) {
	for line, want := range map[string]string{
		"lb/hap-0 u1 10.1.0.10":           "[885ms 1.77s 3.54s 7.08s 14.16s 26.55s]",
		"lb/hap-1 u2 fd00::a runtime=r2":  "[993ms 1.986s 3.972s 7.944s 15.888s 29.79s]",
		"b/hap-1 u2 10.1.0.10 runtime=r2": "[994ms 1.988s 3.976s 7.952s 15.904s 29.82s]",
	} {
		if got := fmt.Sprint(failedDelays(t, line, 6)); got != want {
			t.Errorf("%s: retries after %s instead of %s", line, got, want)
		}
	}
}

// failedDelays fails a pod's probe again and again, and gives the times until the retries.
func failedDelays(t *testing.T, line string, failures int) []time.Duration {
	t.Helper()
	state := core.New(core.Config{})
	for _, input := range []core.Input{
		core.ConfigValidated{AgentPort: 5555},
		core.CredentialsUpdated{Credentials: credentials(t, "admin", "a-pass")},
		core.PodStoreSet{Pods: []*core.Pod{readPod(t, "here", line)}, Synced: core.SyncDone},
	} {
		state, _ = core.Reduce(state, input)
	}
	var delays []time.Duration
	for range failures {
		failed := core.ProbeFinished{
			Probe: state.Probes()[0].Probe, Outcome: core.Failure{Cause: core.CauseRefused},
		}
		var effects []core.Effect
		state, effects = core.Reduce(state, failed)
		for _, effect := range effects {
			if timer, isTimer := effect.(core.StartTimer); isTimer {
				delays = append(delays, timer.After)
				state, _ = core.Reduce(state, core.TimerFired{Timer: timer.Timer})
			}
		}
	}
	return delays
}
