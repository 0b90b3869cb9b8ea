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

// R29a: only a path that can never work ends the program at the start, with status 2 and one line.
func TestPathThatCanNeverBeRecordedTo(t *testing.T) {
	f := newFleet(t, "127.88.0.1")
	folder := t.TempDir()
	file := filepath.Join(folder, "file")
	writeFile(t, file, "")
	for _, path := range []string{
		filepath.Join(folder, "none", "log"), folder, filepath.Join(file, "log"),
	} {
		got := command(t, list(pod("hap-0", "u0", "127.88.0.1")),
			runArgs(f, credentialsDir(t, "admin", password), "--once", "--record", path)...)
		if got.status != 2 || got.out != "" || !strings.Contains(got.errOut, path) ||
			strings.Count(strings.TrimSpace(got.errOut), "\n") > 0 {
			t.Errorf("%s: status %d: %s%s", path, got.status, got.out, got.errOut)
		}
	}
}

// R29a: a full disk, a file that is no log, and a damaged one keep discovery from nothing. What was in
// the way lies beside the log, and that is said.
func TestWhatIsWrongWithTheLogKeepsDiscoveryFromNothing(t *testing.T) {
	f := newFleet(t, "127.88.0.1")
	pods := list(pod("hap-0", "u0", "127.88.0.1"))
	args := runArgs(f, credentialsDir(t, "admin", password), "--once", "--record")
	got := command(t, pods, append(args, "/dev/full")...)
	if got.status != 0 || !strings.Contains(got.out, `"count":1`) ||
		!strings.Contains(got.errOut, "recording has stopped") || !strings.Contains(got.errOut, "no space left") {
		t.Errorf("full disk: status %d: %s%s", got.status, got.out, got.errOut)
	}
	for name, content := range map[string]string{
		"foreign": "a text\nof somebody\n",
		"damaged": `{"format":"haproxy-discovery input log","version":{"major":1,"minor":0},"build":"","time":` +
			`"2026-01-01T00:00:00Z","config":{}}` + "\nwhat\nis this\n",
		"newer": `{"format":"haproxy-discovery input log","version":{"major":2,"minor":0}}` + "\n",
	} {
		log := filepath.Join(t.TempDir(), "inputs.jsonl")
		writeFile(t, log, content)
		got := command(t, pods, append(args, log)...)
		aside, _ := filepath.Glob(log + ".set-aside-*")
		if got.status != 0 || !strings.Contains(got.out, `"count":1`) || len(aside) != 1 ||
			!strings.Contains(got.errOut, aside[0]) {
			t.Fatalf("%s: status %d, aside %v: %s%s", name, got.status, aside, got.out, got.errOut)
		}
		if was, _ := os.ReadFile(aside[0]); string(was) != content {
			t.Errorf("%s: set aside is %q", name, was)
		}
		if got := command(t, "", "replay", log, "--check", "--quiet"); got.status != 0 {
			t.Errorf("%s: status %d: %s", name, got.status, got.errOut)
		}
	}
}
