package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// logrotate is where Debian has it, which is not in the path of ordinary users.
const logrotate = "/usr/sbin/logrotate"

// R29a: both ways of rotating a log, as operators know them, leave files of which each replays from its
// own beginning, while discovery goes on. `make tools` installs logrotate.
func TestLogrotate(t *testing.T) {
	for name, directives := range map[string]string{
		"copytruncate":     "copytruncate",
		"moved and SIGHUP": "nocreate\npostrotate\nkill -HUP %d\nendscript",
		"created anew":     "create 0644\npostrotate\nkill -HUP %d\nendscript",
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t, "127.88.0.1")
			log := filepath.Join(t.TempDir(), "inputs.jsonl")
			run := start(t, runArgs(f, credentialsDir(t, "admin", password), "--record", log)...)
			if strings.Contains(directives, "%d") {
				directives = fmt.Sprintf(directives, run.cmd.Process.Pid)
			}
			run.send(list(pod("hap-0", "u0", "127.88.0.1")))
			run.awaitFleet("u0")
			for round := range 2 {
				// Whatever is said of the file, something was written to it since.
				uid := fmt.Sprintf("u%d", round+1)
				awaitContent(t, log, `"kind":"probe_finished"`)
				rotate(t, log, directives)
				awaitContent(t, log, `"kind":"snapshot"`)
				run.send(list(pod("hap-0", uid, "127.88.0.1")))
				run.awaitFleet(uid)
			}
			_ = run.cmd.Process.Signal(syscall.SIGTERM)
			if status := run.end(); status != 0 {
				t.Errorf("status %d: %s", status, run.stderr())
			}
			if count := strings.Count(run.stderr(), "begun anew"); count != 2 {
				t.Errorf("it is told %d times:\n%s", count, run.stderr())
			}
			for file, starts := range map[string]string{log: "snapshot", log + ".1": "snapshot", log + ".2": ""} {
				got := command(t, "", "replay", file, "--check", "--quiet")
				if got.status != 0 || !strings.Contains(got.errOut, "ok: ") || !strings.Contains(got.errOut, starts) {
					t.Errorf("%s: status %d: %s", file, got.status, got.errOut)
				}
				if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
					t.Errorf("%s: %v, %v", file, info.Mode(), err)
				}
			}
		})
	}
}

func rotate(t *testing.T, log, directives string) {
	t.Helper()
	folder := t.TempDir()
	config := filepath.Join(folder, "logrotate.conf")
	writeFile(t, config, fmt.Sprintf("%s {\nrotate 3\n%s\n}\n", log, directives))
	if err := os.Chmod(config, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(logrotate, "-f", "-s", filepath.Join(folder, "state"), config).CombinedOutput()
	if err != nil {
		t.Fatalf("%v (`make tools` installs it): %s", err, out)
	}
}

func awaitContent(t *testing.T, path, text string) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		content, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(content), text) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s does not come to hold %s: %v\n%s", path, text, err, content)
		}
	}
}
