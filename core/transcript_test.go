package core_test

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// The rules as stories: each file of testdata is one. A step is a command of the language described
// in transcript_inputs_test.go; what stands below its ---- are the effects, one a line. `go test
// ./core -run TestTranscripts -rewrite` writes them anew, for a diff to be reviewed.
func TestTranscripts(t *testing.T) {
	for _, path := range transcripts(t) {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			tellStory(t, path)
		})
	}
}

func transcripts(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	return paths
}

// story is one transcript under way.
type story struct {
	state core.State
	// past holds every state of the story and what it said when it was new.
	past []pastState
	// told tells by line number what the inputs of the transcript led to.
	told map[int]toldStep
	// publications are the ones that were no replays.
	publications []toldPublication
}

// toldPublication is a fleet, the one published before, and what the event says of the difference.
type toldPublication struct {
	before, fleet core.Fleet
	diff          core.FleetDiff
}

type pastState struct {
	state core.State
	said  string
}

// toldStep is the kind of a step's input and the kinds of its effects.
type toldStep struct {
	input   string
	effects []string
}

// tellStory runs a transcript, and proves at its end that every state of it still says what it
// said when it was new.
func tellStory(t *testing.T, path string) *story {
	t.Helper()
	s := &story{state: core.New(core.Config{}), told: map[int]toldStep{}}
	datadriven.RunTest(t, path, func(t *testing.T, command *datadriven.TestData) string {
		return s.run(t, command)
	})
	for _, past := range s.past {
		if diff := cmp.Diff(past.said, everything(past.state)); diff != "" {
			t.Fatalf("a state of the past has changed (I9):\n%s", diff)
		}
	}
	return s
}

func (s *story) run(t *testing.T, command *datadriven.TestData) string {
	switch command.Cmd {
	case "new":
		s.state = core.New(readConfig(t, command))
		return "ok"
	case "state":
		return printState(s.state, command.CmdArgs)
	case "given":
		return s.given(t, command)
	}
	var lines []string
	for _, input := range readInputs(t, command, s.state) {
		effects := s.step(t, input)
		s.tell(t, command, input, effects)
		lines = append(lines, printEffects(s.state, effects)...)
	}
	if len(lines) == 0 {
		return "nothing"
	}
	return strings.Join(lines, "\n")
}

// given sets the scene: a fleet of the pods listed, all of them admitted with version 3.4.3. It
// prints the publication that the story starts from.
func (s *story) given(t *testing.T, command *datadriven.TestData) string {
	s.state = core.New(readConfig(t, command))
	s.step(t, core.ConfigValidated{AgentPort: 5555})
	s.step(t, core.CredentialsUpdated{Credentials: credentials(t, "admin", "a-pass")})
	effects := s.step(t, core.PodStoreSet{Pods: readPods(t, command), Synced: core.SyncDone})
	for len(s.state.Probes()) > 0 {
		probe := s.state.Probes()[0].Probe
		answer := core.Answer{Version: "3.4.3"}
		effects = s.step(t, core.ProbeFinished{Probe: probe, Outcome: answer})
	}
	for _, line := range printEffects(s.state, effects) {
		if strings.HasPrefix(line, "discovered") {
			return line
		}
	}
	t.Fatalf("%s: the fleet was not published", command.Pos)
	return ""
}

// step reduces an input and proves that the old state is as it was, and that the same input gives
// the same effects and the same new state again (I9).
func (s *story) step(t *testing.T, input core.Input) []core.Effect {
	t.Helper()
	old := s.state
	said := everything(old)
	next, effects := core.Reduce(old, input)
	if diff := cmp.Diff(said, everything(old)); diff != "" {
		t.Fatalf("%T changed the old state (I9):\n%s", input, diff)
	}
	again, sameEffects := core.Reduce(old, input)
	if diff := cmp.Diff(printEffects(next, effects), printEffects(again, sameEffects)); diff != "" {
		t.Fatalf("%T gave other effects the second time (I9):\n%s", input, diff)
	}
	if diff := cmp.Diff(everything(next), everything(again)); diff != "" {
		t.Fatalf("%T gave another state the second time (I9):\n%s", input, diff)
	}
	s.past = append(s.past, pastState{old, said})
	s.state = next
	for _, effect := range effects {
		if publish, _ := effect.(core.Publish); publish.Event != nil {
			s.published(old, publish.Event)
		}
	}
	return effects
}

func (s *story) published(old core.State, event core.Event) {
	if e, isFleet := event.(core.HAProxyPodsDiscovered); isFleet && !e.Replay {
		before, _, _ := old.Published()
		diff := core.FleetDiff{Added: e.Added, Updated: e.Updated, Removed: e.Removed}
		s.publications = append(s.publications, toldPublication{before, e.Fleet, diff})
	}
}

// tell remembers what a command did, for the guided tour.
func (s *story) tell(
	t *testing.T, command *datadriven.TestData, in core.Input, effects []core.Effect,
) {
	t.Helper()
	_, number, _ := strings.Cut(command.Pos, ":")
	line, err := strconv.Atoi(number)
	if err != nil {
		t.Fatalf("position %q: %v", command.Pos, err)
	}
	kinds := make([]string, 0, len(effects))
	for _, effect := range effects {
		kind := kindOf(effect)
		if len(kinds) == 0 || kinds[len(kinds)-1] != kind {
			kinds = append(kinds, kind)
		}
	}
	s.told[line] = toldStep{input: strings.TrimPrefix(fmt.Sprintf("%T", in), "core."), effects: kinds}
}

func credentials(t testing.TB, user, password string) core.Credentials {
	t.Helper()
	credentials, err := core.NewCredentials(user, password)
	if err != nil {
		t.Fatal(err)
	}
	return credentials
}
