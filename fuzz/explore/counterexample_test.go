package explore

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell/inputlog"
)

// The search is given reducers with a bug, and has to find it.

// forgetsTerminated loses the Terminated events of a step that begins with two published endpoints.
func forgetsTerminated(before core.State, input core.Input) (core.State, []core.Effect) {
	after, effects := core.Reduce(before, input)
	if fleet, _, _ := before.Published(); fleet.Len() == 2 {
		effects = slices.DeleteFunc(effects, func(effect core.Effect) bool {
			publish, _ := effect.(core.Publish)
			_, is := publish.Event.(core.HAProxyPodTerminated)
			return is
		})
	}
	return after, effects
}

// The same bug, built into the core.
const (
	terminates   = "\ts.terminated = append(s.terminated,"
	forgetsIfTwo = "\tif s.published.fleet.Len() == 2 {\n" +
		"\t\ts.removed = append(s.removed, key)\n\t\treturn\n\t}\n" + terminates
)

func forgetsRetryTimer(before core.State, input core.Input) (core.State, []core.Effect) {
	after, effects := core.Reduce(before, input)
	return after, slices.DeleteFunc(effects, func(effect core.Effect) bool {
		start, is := effect.(core.StartTimer)
		return is && start.Timer != after.PublishTimer() && start.Timer != after.FirstPublishTimer()
	})
}

// dropsLateResults keeps the place of a cancelled probe for ever.
func dropsLateResults(before core.State, input core.Input) (core.State, []core.Effect) {
	if finished, is := input.(core.ProbeFinished); is {
		if probe, _ := before.Probe(finished.Probe); probe.Cancelled {
			return before, nil
		}
	}
	return core.Reduce(before, input)
}

func panicsOnDeletion(before core.State, input core.Input) (core.State, []core.Effect) {
	if update, is := input.(core.ResourceIndexUpdated); is && len(update.Deleted) > 0 {
		if standing, _ := before.Standing(update.Deleted[0].Key); standing.Probe != 0 {
			panic("a deleted pod is being probed")
		}
	}
	return core.Reduce(before, input)
}

// changesThePast writes into the facts of a pod that is deleted, which older states share.
func changesThePast(before core.State, input core.Input) (core.State, []core.Effect) {
	after, effects := core.Reduce(before, input)
	if standing, known := before.Standing(keyOf("a")); known && after.Len() == 0 {
		standing.Pod.Labels["revision"] += "'"
	}
	return after, effects
}

// hearsLateTimers answers a timer that has fired already.
func hearsLateTimers(before core.State, input core.Input) (core.State, []core.Effect) {
	after, effects := core.Reduce(before, input)
	fired, is := input.(core.TimerFired)
	if is && len(effects) == 0 && !slices.Contains(before.Timers(), fired.Timer) {
		effects = []core.Effect{core.StartTimer{Timer: fired.Timer}}
	}
	return after, effects
}

func TestBugsAreFound(t *testing.T) {
	for _, test := range []struct {
		name      string
		reduce    Reduce
		invariant string
		moves     int
	}{
		{"Terminated is lost", forgetsTerminated, "I1", 5},
		{"the retry timer is lost", forgetsRetryTimer, "I8", 2},
		{"late results are dropped", dropsLateResults, "I5", 3},
		{"panic", panicsOnDeletion, "R32", 2},
		{"older states change", changesThePast, "I9", 1},
		{"late timers are heard", hearsLateTimers, "R24", 4},
	} {
		t.Run(test.name, func(t *testing.T) {
			found := Explore(pair(), test.reduce, nil).Counterexample
			if found == nil {
				t.Fatal("nothing is found")
			}
			t.Log(found)
			if !slices.ContainsFunc(found.Violations,
				func(v violation) bool { return v.Invariant == test.invariant }) {
				t.Errorf("it is not found by %s", test.invariant)
			}
			if len(found.Moves) != test.moves {
				t.Errorf("the way has %d moves instead of %d", len(found.Moves), test.moves)
			}
			replayed(t, found, test.reduce)
		})
	}
}

// replayed writes the log, reads it back and finds the same violations at its end.
func replayed(t *testing.T, found *Counterexample, reduce Reduce) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "counterexample.jsonl")
	if err := found.WriteLog(path); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var (
		state    core.State
		steps    int
		last     []violation
		digester = inputlog.NewDigester()
		digest   string
	)
	for reader := inputlog.NewReader(file); ; {
		entry, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := entry.(type) {
		case inputlog.Started:
			state = core.New(e.Config)
		case inputlog.Step:
			after, effects, violations := safely(reduce, state, e.Input)
			if violations == nil {
				violations = newChecker().check(true, state, e.Input, after, effects)
			}
			digest = digester.Sum(effects)
			state, last = after, violations
			steps++
		case inputlog.Reduced:
			if e.Digest != digest {
				t.Errorf("input %d: the effects differ from the recorded ones", e.Seq)
			}
		case inputlog.Ended:
			if e.Killed {
				t.Error("the log has no end")
			}
		case inputlog.Stopped: // a reducer that panics leaves this
		default:
			t.Errorf("%+v", e)
		}
	}
	if steps != len(found.Inputs) {
		t.Errorf("the log has %d inputs instead of %d", steps, len(found.Inputs))
	}
	if found.proof != byCheck {
		return
	}
	for _, violation := range found.Violations {
		if !slices.Contains(last, violation) {
			t.Errorf("the last input shows %v", last)
		}
	}
}

// A way of quiet steps that leads round, or ends before everything is at rest, is found.
func TestUnrestIsFound(t *testing.T) {
	world := pair()
	for name, test := range map[string]struct {
		change func(*Move) (keep bool)
		want   string
	}{
		"an agent fails for ever": {func(m *Move) bool {
			m.Quiet = m.Quiet || m.Name == "probe of b: refused"
			return true
		}, "cycle"},
		"a timer never fires": {func(m *Move) bool {
			return m.Name != "retry timer of a"
		}, "0 probes, 1 timers"},
		"an agent never answers": {func(m *Move) bool {
			return m.Name != "probe of a: answer"
		}, "1 probes, 0 timers"},
	} {
		t.Run(name, func(t *testing.T) {
			doctored := world
			doctored.Moves = nil
			for _, move := range world.Moves {
				if test.change(&move) {
					doctored.Moves = append(doctored.Moves, move)
				}
			}
			found := Explore(doctored, core.Reduce, nil).Counterexample
			if found == nil {
				t.Fatal("nothing is found")
			}
			t.Log(found)
			if violation := found.Violations[0].String(); !strings.Contains(violation, test.want) ||
				!strings.HasPrefix(violation, "I10") {
				t.Errorf("what is found is %s", violation)
			}
		})
	}
}

// One processor finds what four find, and by the same way.
func TestProcessorsDoNotMatter(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, reduce := range []Reduce{core.Reduce, forgetsTerminated} {
		runtime.GOMAXPROCS(1)
		alone := Explore(pair(), reduce, nil)
		runtime.GOMAXPROCS(4)
		together := Explore(pair(), reduce, nil)
		alone.Took, together.Took = 0, 0
		if alone.String() != together.String() {
			t.Errorf("%v\n%v", alone, together)
		}
		if alone.Counterexample.String() != together.Counterexample.String() {
			t.Errorf("%v\n%v", alone.Counterexample, together.Counterexample)
		}
	}
}

func TestOpenSpaceIsFound(t *testing.T) {
	world := pair()
	world.MaxStates = 1000
	if found := Explore(world, core.Reduce, nil).Counterexample; found == nil {
		t.Error("a space that is larger than its bound counts as closed")
	}
}

// The printed test fails while the bug is in the core. The others, of bugs that this core does not
// have, compile and pass.
func TestGoTestOfCounterexample(t *testing.T) {
	overlay := newOverlay(t)
	for name, reduce := range map[string]Reduce{
		"Terminated": forgetsTerminated, "Echo": hearsLateTimers, "Purity": changesThePast,
	} {
		overlay.addTest(t, name, Explore(pair(), reduce, nil).Counterexample)
	}
	world := pair()
	for i := range world.Moves {
		world.Moves[i].Quiet = world.Moves[i].Quiet || world.Moves[i].Name == "probe of b: refused"
	}
	overlay.addTest(t, "Convergence", Explore(world, core.Reduce, nil).Counterexample)
	overlay.replaceInCore(t, "pod_changes.go", terminates, forgetsIfTwo)
	output, err := overlay.run(t)
	for _, want := range []string{
		"--- PASS: TestConvergence", "--- PASS: TestEcho", "--- PASS: TestPurity",
		"--- FAIL: TestTerminated", "I1 ", "gone without Terminated",
	} {
		if !strings.Contains(output, want) {
			t.Errorf("%q is missing from: %v\n%s", want, err, output)
		}
	}
}

// overlay runs tests that are not in the source tree, against a core that differs from it.
type overlay struct {
	root, folder string
	replace      map[string]string
}

// foundTests is a package that exists in the overlay only.
const foundTests = "fuzz/explore/found"

func newOverlay(t *testing.T) *overlay {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return &overlay{root: root, folder: t.TempDir(), replace: map[string]string{}}
}

func (o *overlay) add(t *testing.T, path string, content []byte) {
	t.Helper()
	actual := filepath.Join(o.folder, strings.ReplaceAll(path, "/", "_"))
	if err := os.WriteFile(actual, content, 0o600); err != nil {
		t.Fatal(err)
	}
	o.replace[filepath.Join(o.root, path)] = actual
}

func (o *overlay) addTest(t *testing.T, name string, found *Counterexample) {
	t.Helper()
	if found == nil {
		t.Fatalf("%s: nothing is found", name)
	}
	source, err := found.GoTest()
	if err != nil {
		t.Fatal(err)
	}
	renamed := strings.Replace(string(source), "TestCounterexample", "Test"+name, 1)
	o.add(t, foundTests+"/"+strings.ToLower(name)+"_test.go", []byte(renamed))
}

func (o *overlay) replaceInCore(t *testing.T, file, old, with string) {
	t.Helper()
	source, err := os.ReadFile(filepath.Join(o.root, "core", file))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(source), old) != 1 {
		t.Fatalf("%s does not hold %q once", file, old)
	}
	o.add(t, "core/"+file, []byte(strings.Replace(string(source), old, with, 1)))
}

// run compiles and runs the tests of the overlay.
func (o *overlay) run(t *testing.T) (output string, err error) {
	t.Helper()
	text, err := json.Marshal(map[string]any{"Replace": o.replace})
	if err != nil {
		t.Fatal(err)
	}
	file, binary := filepath.Join(o.folder, "overlay.json"), filepath.Join(o.folder, "found.test")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	compile := exec.CommandContext(t.Context(),
		"go", "test", "-c", "-vet=off", "-overlay", file, "-o", binary, "./"+foundTests)
	compile.Dir = o.root
	if combined, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, combined)
	}
	combined, err := exec.CommandContext(t.Context(), binary, "-test.v").CombinedOutput()
	return string(combined), err
}
