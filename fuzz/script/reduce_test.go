package script

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/core/invariant"
	"github.com/haproxy-discovery/haproxy-discovery/fuzz/bounds"
)

// maxBytes bounds a story, so that the fuzzer tells many.
const maxBytes = 400

// FuzzReduce: whatever the story, Reduce ends, costs bounded memory and changes no argument; after
// each step all invariants hold; and when it is over and every agent answers, the fleet is complete
// in a bounded number of steps (I1 to I10, R32).
func FuzzReduce(f *testing.F) {
	for _, seed := range seeds {
		f.Add(seed)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		seed := make([]byte, 200)
		for i := range seed {
			seed[i] = byte(random.Uint32())
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, story []byte) {
		tellStory(t, &script{
			bytes: story[:min(len(story), maxBytes)], world: map[core.PodKey]*core.Pod{},
		})
	})
}

// open opens the gate of the first configuration for an empty store.
var open = []byte{0, configure, 0, 0, rotate, 0, setStore, 0, 0}

var seeds = [][]byte{
	// A pod comes, answers, restarts, and is replaced.
	slices.Concat(open, []byte{change, 0, 0, 0, answer, 0, 0, change, 16, 0, 0, answer, 0, 0,
		change, 4, 0, 0, answer, 0, 1, remove, 0}),
	// Three pods for two places; one hangs, one has no version; credentials rotate meanwhile.
	slices.Concat(open, []byte{change, 0, 0, 0, change, 1, 1, 0, change, 2, 2, 0, finish, 0, 3,
		finish, 0, 2, rotate, 1, finish, 0, 3, fire, 0, fire, 1, drift, lead, configure, 2, 1}),
	// A story before the gate opens; a store that cannot say; a swapped one.
	{3, change, 0, 0, 0, setStore, 1, 0, sync, 0, rotate, 0, configure, 0, 0, answer, 0, 0,
		setStore, 2, 3, 1, 1, 0, 0, misread, 0, sync, 3, 0, stale, 1, stale, 129, 0, babble, 0},
	// Flaws of all kinds, odd deletions, what is no pod.
	slices.Concat(open, []byte{change, 0, 0, 0, answer, 0, 0, change, 0, 0, 8, change, 0, 0, 64,
		change, 0, 12, 192, change, 0, 3, 0, change, 0, 0, 16, change, 0, 8, 0, index, 2, 0, 0, 0,
		4, 0, 0, 3, 0, 0, 0, 255, 0, 0, 0, 0, 255, quietly, 1, 0, 0, drift, quietly, 1, 0, 16, drift}),
}

// TestSeedsTellWhatTheySay: a verb or a word more would turn the bytes into another story.
func TestSeedsTellWhatTheySay(t *testing.T) {
	for number, wanted := range [][]string{
		{"Cause:container_restarted", "Cause:replaced", "Cause:deleted"},
		{"Cause:timeout", "CredentialsChanged:true", "TimerFired", "Replay:true", "Cause:port_changed"},
		{"Trigger:resource_sync_complete", "Cause:deleted", "is not outstanding", "is no input"},
		{"Cause:waiting", "Cause:agent_not_running", "Cause:malformed", "without name or UID"},
	} {
		st := tellStory(t, &script{bytes: seeds[number], world: map[core.PodKey]*core.Pod{}})
		told := strings.Join(st.told, "\n")
		for _, part := range wanted {
			if !strings.Contains(told, part) {
				t.Errorf("seed %d does not tell of %s:\n%s", number, part, told)
			}
		}
	}
}

// story is one under way.
type story struct {
	t       *testing.T
	state   core.State
	monitor *invariant.Monitor
	told    []string
}

func tellStory(t *testing.T, s *script) *story {
	state := core.New(pick(s, configs))
	st := &story{
		t: t, state: state, monitor: invariant.NewMonitor(state, invariant.Thorough()),
	}
	for len(s.bytes) > 0 && !t.Failed() {
		if input, given := s.input(st.state); given {
			st.step(input)
		}
	}
	if !t.Failed() {
		st.settle()
	}
	if t.Failed() {
		for _, line := range st.told {
			t.Log(line)
		}
	}
	return st
}

func (st *story) step(input core.Input) {
	st.t.Helper()
	text := describe(input)
	st.told = append(st.told, text)
	var after core.State
	var effects []core.Effect
	bounds.Hold(st.t, st.state.Len()+len(text), 4096, func() {
		after, effects = core.Reduce(st.state, input)
	})
	for _, effect := range effects {
		st.told = append(st.told, fmt.Sprintf("    %T%+v", effect, effect))
	}
	if now := describe(input); now != text {
		st.t.Errorf("reducing has changed its input to %s", now)
	}
	for _, violation := range st.monitor.Step(input, after, effects) {
		st.t.Errorf("%v", violation)
	}
	st.state = after
}

// settle brings in what the gate waits for, lets every agent answer and every timer fire.
func (st *story) settle() {
	if _, configured := st.state.Settings(); !configured {
		st.step(core.ConfigValidated{AgentPort: 5555})
	}
	if st.state.Credentials().IsZero() {
		st.step(core.CredentialsUpdated{Credentials: credentials[0]})
	}
	if !st.state.GateOpen() {
		st.step(core.PodStoreSet{Pods: knownPods(st.state), Synced: core.SyncDone})
	}
	violations := invariant.Converge(st.state,
		func(_ core.State, input core.Input) (core.State, []core.Effect) {
			st.step(input)
			return st.state, nil
		})
	for _, violation := range violations {
		st.t.Errorf("in the end: %v", violation)
	}
}

func knownPods(state core.State) (pods []*core.Pod) {
	for standing := range state.Standings() {
		pods = append(pods, standing.Pod)
	}
	return pods
}

// describe prints an input with its pods in full.
func describe(input core.Input) string {
	text := fmt.Sprintf("%T%+v", input, input)
	var pods []*core.Pod
	switch in := input.(type) {
	case core.PodStoreSet:
		pods = in.Pods
	case core.ResourceIndexUpdated:
		pods = in.Upserted
	case core.ResourceSyncComplete:
		pods = in.Pods
	case core.DriftPreventionTriggered:
		pods = in.Pods
	}
	for _, pod := range pods {
		if pod != nil {
			text += fmt.Sprintf(" %+v", *pod)
		}
	}
	return text
}
