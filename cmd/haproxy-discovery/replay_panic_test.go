package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// R32: a replay whose own reducer panics tells of the steps before, then in one line which input it was.
func TestReplayNamesTheInputThatBreaksItsReducer(t *testing.T) {
	f := newFleet(t, "127.88.0.1")
	log := filepath.Join(t.TempDir(), "inputs.jsonl")
	args := runArgs(f, credentialsDir(t, "admin", password), "--once", "--record", log)
	if got := command(t, list(pod("hap-0", "u0", "127.88.0.1")), args...); got.status != 0 {
		t.Fatalf("status %d: %s", got.status, got.errOut)
	}
	for _, check := range []bool{false, true} {
		steps := 0
		flags := replayFlags{check: check, output: "json"}
		flags.reduce = func(state core.State, input core.Input) (core.State, []core.Effect) {
			if steps++; steps == 3 {
				panic("a bug\nin the rules")
			}
			return core.Reduce(state, input)
		}
		var out, errOut strings.Builder
		err := flags.run(t.Context(), log, streams{out: &out, err: &errOut})
		if err == nil || exitStatus(err) != exitFailure {
			t.Fatalf("status %d: %v", exitStatus(err), err)
		}
		line := oneLine(err)
		for _, part := range []string{log, "seq 3", "(core.", "the reducer panicked", "a bug; in the rules"} {
			if !strings.Contains(line, part) {
				t.Errorf("no %q in: %s", part, line)
			}
		}
		if count := strings.Count(out.String(), `"seq":`); count != 2 || errOut.Len() > 0 {
			t.Errorf("%d steps:\n%s%s", count, &out, &errOut)
		}
	}
}
