package core_test

import (
	"slices"
	"testing"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// busyState has at least two of everything that can be asked for: pods, unsettled ones, queued first
// attempts and retries, outstanding probes, retry timers and unpublished admissions.
func busyState(t *testing.T) core.State {
	t.Helper()
	state := core.New(core.Config{MaxProbes: 4, MaxRetries: 1})
	reduce := func(input core.Input) {
		state, _ = core.Reduce(state, input)
	}
	pods := func(lines ...string) (pods []*core.Pod) {
		for _, line := range lines {
			pods = append(pods, readPod(t, "here", line))
		}
		return pods
	}
	reduce(core.ConfigValidated{AgentPort: 5555})
	reduce(core.CredentialsUpdated{Credentials: credentials(t, "admin", "a-pass")})
	reduce(core.PodStoreSet{Synced: core.SyncDone, Pods: pods(
		"lb/a u1 10.1.0.1", "lb/b u2 10.1.0.2", "lb/c u3 10.1.0.3", "lb/d u4 10.1.0.4",
		"lb/e u5 10.1.0.5", "lb/f u6 10.1.0.6", "lb/g u7 10.1.0.7",
	)})
	for probe := range core.ProbeID(7) { // a to c answer, d to g fail
		finished := core.ProbeFinished{Probe: probe + 1, Outcome: core.Answer{Version: "3.4.3"}}
		if probe >= 3 {
			finished.Outcome = core.Failure{Cause: core.CauseRefused}
		}
		reduce(finished)
	}
	timers := slices.Collect(retryTimers(state))
	for _, timer := range timers[:3] { // d is retried, e and f wait for its place
		reduce(core.TimerFired{Timer: timer})
	}
	reduce(core.ResourceIndexUpdated{Resource: core.HAProxyPods, Upserted: pods(
		"lb/h u8 10.1.0.8", "lb/i u9 10.1.0.9", "lb/j u10 10.1.0.10", "lb/k u11 10.1.0.11",
		"lb/l u12 10.1.0.12", "lb/m u13 10.1.0.13", "lb/n u14 10.1.0.14", "lb/o u15 10.1.0.15",
	)})
	for _, probe := range state.Probes()[1:3] {
		reduce(core.ProbeFinished{Probe: probe.Probe, Outcome: core.Answer{Version: "3.4.3"}})
	}
	failed := state.Probes()[1]
	reduce(core.ProbeFinished{Probe: failed.Probe, Outcome: core.Failure{Cause: core.CauseRefused}})
	return state
}

func retryTimers(state core.State) func(yield func(core.TimerID) bool) {
	return func(yield func(core.TimerID) bool) {
		for id := range state.RetryTimers() {
			if !yield(id) {
				return
			}
		}
	}
}

// Whatever a state lists can be left early, and counts as many as it says.
func TestStateListsCanBeLeftEarly(t *testing.T) {
	state := busyState(t)
	firsts, retries := state.QueueLen()
	for name, list := range map[string]struct {
		length int
		all    func(yield func() bool)
	}{
		"standings":      {state.Len(), counting(state.Standings())},
		"unsettled":      {10, counting(state.Unsettled())},
		"unpublished":    {2, counting(state.Unpublished())},
		"first attempts": {firsts, counting(state.FirstAttempts())},
		"retries":        {retries, counting(state.Retries())},
		"retry timers":   {state.RetryTimersLen(), counting(retryTimers(state))},
		"fleet":          {state.Admitted().Len(), counting(state.Admitted().All())},
	} {
		all := 0
		list.all(func() bool { all++; return true })
		if all != list.length || all < 2 {
			t.Errorf("%s: %d instead of %d", name, all, list.length)
		}
		some := 0
		list.all(func() bool { some++; return false })
		if some != 1 {
			t.Errorf("%s: left after the first of %d, %d were given", name, all, some)
		}
	}
}

// counting drops what is iterated over.
func counting[T any](all func(yield func(T) bool)) func(yield func() bool) {
	return func(yield func() bool) { all(func(T) bool { return yield() }) }
}
