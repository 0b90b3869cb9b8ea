package shell

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// R32: the log that a panic of the reducer leaves behind replays by the command up to that input, whose
// number is told.
func TestLogOfAPanicReplaysByTheCommand(t *testing.T) {
	writer, log := openLog(t)
	r := newRunning(t, New(nil, nil, WithObserver(&logObserver{Writer: writer}), panickingReducer))
	r.HandleEvent(core.ConfigValidated{AgentPort: 5555})
	r.HandleEvent(core.BecameLeader{})
	r.begin()
	if err := <-r.ended; !errors.Is(err, ErrReducerPanicked) {
		t.Fatalf("Start: %v", err)
	}
	program := filepath.Join(t.TempDir(), "haproxy-discovery")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../cmd/haproxy-discovery")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, args := range [][]string{{"-o", "json"}, {"-o", "json", "--check"}} {
		replay := exec.CommandContext(t.Context(), program, append([]string{"replay", log}, args...)...)
		var out, errOut strings.Builder
		replay.Stdout, replay.Stderr = &out, &errOut
		err := replay.Run()
		for _, part := range []string{`"kind":"config_validated"`, `"kind":"became_leader"`, "input 2"} {
			if !strings.Contains(out.String(), part) {
				t.Errorf("no %s in:\n%s", part, &out)
			}
		}
		if err != nil || !strings.Contains(errOut.String(), "input 2 was taken up and never reduced") {
			t.Errorf("%v: %s", err, &errOut)
		}
	}
}
