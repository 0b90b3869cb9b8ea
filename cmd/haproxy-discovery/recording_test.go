package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// R28: two runs on one log would destroy it. The second one is refused before it begins; the first
// goes on, and so does a later run.
func TestOneRunRecordsToALog(t *testing.T) {
	f := newFleet(t, "127.88.0.1")
	log := filepath.Join(t.TempDir(), "inputs.jsonl")
	pods := list(pod("hap-0", "u0", "127.88.0.1"))
	args := runArgs(f, credentialsDir(t, "admin", password), "--record", log)
	first := start(t, args...)
	first.send(pods)
	first.awaitFleet("u0")
	second := command(t, pods, append(args, "--once")...)
	if second.status != 2 || second.out != "" || !strings.Contains(second.errOut, log) ||
		!strings.Contains(second.errOut, "is being recorded to by another process") {
		t.Errorf("status %d: %s%s", second.status, second.out, second.errOut)
	}
	_ = first.cmd.Process.Signal(os.Interrupt)
	if status := first.end(); status != 0 {
		t.Errorf("status %d: %s", status, first.stderr())
	}
	if third := command(t, pods, append(args, "--once")...); third.status != 0 {
		t.Errorf("status %d: %s", third.status, third.errOut)
	}
	got := command(t, "", "replay", log, "--check", "--quiet")
	if got.status != 0 || strings.Count(got.errOut, "warning") != 1 {
		t.Errorf("status %d: %s", got.status, got.errOut)
	}
}
