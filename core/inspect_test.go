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

// Timers are listed by number, of whichever kind they are.
func TestStateListsAllTimers(t *testing.T) {
	state := busyState(t)
	want := append(slices.Collect(retryTimers(state)), state.PublishTimer())
	slices.Sort(want)
	if got := state.Timers(); !slices.Equal(got, want) || len(want) != 3 || state.PublishTimer() == 0 {
		t.Errorf("the timers are %v instead of %v", got, want)
	}
	first := core.New(core.Config{})
	for _, input := range []core.Input{
		core.ConfigValidated{AgentPort: 5555},
		core.CredentialsUpdated{Credentials: credentials(t, "admin", "a-pass")},
		core.PodStoreSet{Synced: core.SyncDone, Pods: []*core.Pod{
			readPod(t, "here", "lb/a u1 10.1.0.1"), readPod(t, "here", "lb/b u2 10.1.0.2"),
		}},
		core.ProbeFinished{Probe: 1, Outcome: core.Failure{Cause: core.CauseRefused}},
	} {
		first, _ = core.Reduce(first, input)
	}
	retry := slices.Collect(retryTimers(first))
	want = append([]core.TimerID{first.FirstPublishTimer()}, retry...)
	if got := first.Timers(); !slices.Equal(got, want) || len(want) != 2 || want[0] == 0 {
		t.Errorf("before the first publication, the timers are %v instead of %v", got, want)
	}
}

// What is not there is told to be so, and nothing is said of it.
func TestStateAnswersForNothing(t *testing.T) {
	state := core.New(core.Config{})
	if fleet, generation, published := state.Published(); published || generation != 0 || fleet.Len() > 0 {
		t.Errorf("published are %v, %d", fleet, generation)
	}
	if probe, found := state.Probe(1); found || probe != (core.OutstandingProbe{}) {
		t.Errorf("probe 1 is %v", probe)
	}
	if standing, found := state.Standing(core.PodKey{}); found || standing != (core.Standing{}) {
		t.Errorf("nobody stands at %v", standing)
	}
	if settings, known := state.Settings(); known || settings != (core.ConfigValidated{}) {
		t.Errorf("the settings are %v", settings)
	}
}

// Admitted is what a publication would tell now, credentials included.
func TestAdmittedHasTheNewestCredentials(t *testing.T) {
	state := busyState(t)
	rotated := credentials(t, "admin", "b-pass")
	state, _ = core.Reduce(state, core.CredentialsUpdated{Credentials: rotated})
	for _, endpoint := range state.Admitted().Endpoints() {
		if endpoint.Credentials != rotated {
			t.Errorf("%s has other credentials", endpoint.Key())
		}
	}
}

// Two branches of one history share what is old, and neither sees what is new of the other (I9).
func TestBranchesDoNotMeet(t *testing.T) {
	root := busyState(t)
	for _, probe := range root.Probes() { // A list that has become shorter has room at its end.
		finished := core.ProbeFinished{Probe: probe.Probe, Outcome: core.Failure{Cause: core.CauseTLS}}
		root, _ = core.Reduce(root, finished)
	}
	said := everything(root)
	upsert := func(line string) core.State {
		state, _ := core.Reduce(root, core.ResourceIndexUpdated{
			Resource: core.HAProxyPods, Upserted: []*core.Pod{readPod(t, "here", line)},
		})
		return state
	}
	left := upsert("lb/x u21 10.1.0.21")
	leftSaid := everything(left)
	right := upsert("lb/y u22 10.1.0.22")
	rightSaid := everything(right)
	again := upsert("lb/z u23 10.1.0.23")
	for name, branch := range map[string]struct{ was, is string }{
		"the root":        {said, everything(root)},
		"the left branch": {leftSaid, everything(left)},
		"the right one":   {rightSaid, everything(right)},
	} {
		if branch.was != branch.is {
			t.Errorf("%s has changed from\n%s\nto\n%s", name, branch.was, branch.is)
		}
	}
	if len(again.Probes()) <= len(root.Probes()) {
		t.Error("no branch starts a probe, so this shows nothing")
	}
}
