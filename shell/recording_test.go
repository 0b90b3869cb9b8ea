package shell

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell/inputlog"
	"github.com/haproxy-discovery/haproxy-discovery/shell/internal/loopback"
)

func openLog(t *testing.T) (*inputlog.Writer, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "inputs.jsonl")
	writer, err := inputlog.Open(path, inputlog.Run{Build: "test", Started: time.Now()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return writer, path
}

// logObserver records as recording.Recorder does, which imports this package.
type logObserver struct {
	problemLog
	*inputlog.Writer
}

func (l *logObserver) Taken(at time.Time, input core.Input) { l.Append(at, input) }

func (l *logObserver) Reduced(step Step) { l.Effects(step.Effects, step.After) }

// steps reads the recorded inputs.
type recordedStep struct {
	inputlog.Step
	digest string
}

func steps(t *testing.T, path string) []recordedStep {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var recorded []recordedStep
	for reader := inputlog.NewReader(file); ; {
		entry, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return recorded
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := entry.(type) {
		case inputlog.Step:
			recorded = append(recorded, recordedStep{Step: e})
		case inputlog.Reduced:
			recorded[len(recorded)-1].digest = e.Digest
		case inputlog.Warning:
			t.Errorf("warning: %v", e)
		}
	}
}

// R28: what a component has recorded replays to the same effects and the same fleet.
func TestRecordedRunReplaysToTheSame(t *testing.T) {
	agents := loopback.NewAgents(t)
	agents.Start("127.77.0.1", loopback.Healthy("3.4.3"))
	agents.Start("127.77.0.2", loopback.Hung)
	writer, path := openLog(t)
	store := newTestStore(loopback.Pod("hap-0", "u0", "127.77.0.1"), loopback.Pod("hap-1", "u1", "127.77.0.2"))
	r := start(t, agents.Port, store, WithObserver(&logObserver{Writer: writer}))
	r.awaitFleet("u0")
	r.HandleEvent(DriftPreventionTriggered{})
	r.changed(store.Set(loopback.Pod("hap-0", "u2", "127.77.0.1")))
	r.awaitTerminated("u0", core.CauseReplaced)
	r.awaitFleet("u2")
	r.changed(store.Remove("hap-1"))
	r.awaitState("hap-1 gone", func(s core.State) bool { return s.Len() == 1 })
	if err, _ := r.stop(); err != nil {
		t.Fatal(err)
	}

	state, digester := core.New(core.Config{}), inputlog.NewDigester()
	recorded := steps(t, path)
	for _, step := range recorded {
		var effects []core.Effect
		state, effects = core.Reduce(state, step.Input)
		if got := digester.Sum(effects); got != step.digest {
			t.Fatalf("seq %d: the effects digest to %s instead of %s", step.Seq, got, step.digest)
		}
	}
	replayed, generation, _ := state.Published()
	live, liveGeneration, _ := r.State().Published()
	if diff := live.DiffFrom(replayed); generation != liveGeneration || len(diff.Added)+len(diff.Removed) > 0 {
		t.Errorf("generation %d instead of %d, fleets differ by %v", generation, liveGeneration, diff)
	}
	if len(recorded) < 8 {
		t.Errorf("only %d inputs recorded", len(recorded))
	}
}

// panickingReducer has a bug that BecameLeader meets.
func panickingReducer(o *options) {
	o.reduce = func(state core.State, input core.Input) (core.State, []core.Effect) {
		if _, breaks := input.(core.BecameLeader); breaks {
			panic("a bug")
		}
		return core.Reduce(state, input)
	}
}

// R32: the input that breaks the reducer is in the log.
func TestInputThatBreaksTheReducerIsRecorded(t *testing.T) {
	writer, path := openLog(t)
	r := newRunning(t, New(nil, nil, WithObserver(&logObserver{Writer: writer}), panickingReducer))
	r.HandleEvent(core.ConfigValidated{AgentPort: 5555})
	r.HandleEvent(core.BecameLeader{})
	r.begin()
	if err := <-r.ended; !errors.Is(err, ErrReducerPanicked) {
		t.Fatalf("Start: %v", err)
	}
	recorded := steps(t, path)
	if len(recorded) != 2 || recorded[1].Input != (core.BecameLeader{}) {
		t.Errorf("recorded: %v", recorded)
	}
}
