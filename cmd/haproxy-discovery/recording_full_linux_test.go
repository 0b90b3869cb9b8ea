package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// R29a: a disk that has no more room in the middle of a run ends the recording with one line, and
// nothing else. What was recorded replays, with a warning; once there is room, SIGHUP has it go on.
// The limit on the size of files is for the program what a full disk is: a part of a write succeeds.
func TestDiskThatFillsUpWhileRecording(t *testing.T) {
	for name, room := range map[string]uint64{
		"no room for a last record": 10, "room for a last record": 400,
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t, "127.88.0.1")
			log := filepath.Join(t.TempDir(), "inputs.jsonl")
			run := start(t, runArgs(f, credentialsDir(t, "admin", password), "--record", log)...)
			run.send(list(pod("hap-0", "u0", "127.88.0.1")))
			run.awaitFleet("u0")
			awaitContent(t, log, `"kind":"probe_finished"`)
			info, err := os.Stat(log)
			if err != nil {
				t.Fatal(err)
			}
			limitFiles(t, run, uint64(info.Size())+room)
			run.send(list(pod("hap-0", "u1", "127.88.0.1")))
			run.awaitFleet("u1")
			run.awaitStderr("recording has stopped")
			got := command(t, "", "replay", log, "--check", "--quiet")
			if got.status != 0 || strings.Count(got.errOut, "warning: ") != 1 {
				t.Errorf("status %d: %s", got.status, got.errOut)
			}

			limitFiles(t, run, unix.RLIM_INFINITY)
			_ = run.cmd.Process.Signal(unix.SIGHUP)
			run.awaitStderr("recording goes on")
			run.send(list(pod("hap-0", "u2", "127.88.0.1")))
			run.awaitFleet("u2")
			_ = run.cmd.Process.Signal(unix.SIGTERM)
			if status := run.end(); status != 0 || strings.Count(run.stderr(), "recording has stopped") != 1 {
				t.Errorf("status %d: %s", status, run.stderr())
			}
			got = command(t, "", "replay", log, "--check", "-o", "json")
			if got.status != 0 || !strings.Contains(got.out, `"u2"`) || !strings.Contains(got.errOut, "snapshot") {
				t.Errorf("status %d: %s%s", got.status, got.out, got.errOut)
			}
		})
	}
}

func limitFiles(t *testing.T, run *started, size uint64) {
	t.Helper()
	limit := unix.Rlimit{Cur: size, Max: unix.RLIM_INFINITY}
	if err := unix.Prlimit(run.cmd.Process.Pid, unix.RLIMIT_FSIZE, &limit, nil); err != nil {
		t.Fatal(err)
	}
}
