package main

import (
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// A run that checks its invariants says at its end how many steps were checked, and that they hold.
func TestRunChecksItsInvariants(t *testing.T) {
	f := newFleet(t, "127.88.0.1", "127.88.0.2")
	s := start(t, runArgs(f, credentialsDir(t, "admin", password), "--check-invariants",
		"--drift-interval", "50ms")...)
	s.send(list(pod("hap-0", "u0", "127.88.0.1"), pod("hap-1", "u1", "127.88.0.99")))
	s.awaitFleet("u0")
	s.send(watchEvent("MODIFIED", pod("hap-0", "u2", "127.88.0.2")))
	s.awaitFleet("u2")
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	if status := s.end(); status != 0 {
		t.Errorf("status %d: %s", status, s.stderr())
	}
	if steps := checkedSteps(t, s.stderr()); steps < 8 {
		t.Errorf("only %d steps were checked:\n%s", steps, s.stderr())
	}
	noTrace(t, "stderr", s.stderr())
}

func TestDemoChecksItsInvariants(t *testing.T) {
	got := command(t, "", "demo", "--duration", "2s", "--check-invariants", "--log-level", "info")
	if got.status != 0 {
		t.Errorf("status %d: %s", got.status, got.errOut)
	}
	if steps := checkedSteps(t, got.errOut); steps < 5 {
		t.Errorf("only %d steps were checked:\n%s", steps, got.errOut)
	}
}

func TestNothingIsCheckedUnlessAsked(t *testing.T) {
	f := newFleet(t, "127.88.0.1")
	got := command(t, list(pod("hap-0", "u0", "127.88.0.1")),
		runArgs(f, credentialsDir(t, "admin", password), "--once")...)
	if got.status != 0 || strings.Contains(got.errOut, "invariants") {
		t.Errorf("status %d: %s", got.status, got.errOut)
	}
}

// checkedSteps reads the line that closes the checks: everything was checked, nothing was found.
func checkedSteps(t *testing.T, log string) int {
	t.Helper()
	line := regexp.MustCompile(`the invariants were checked".* steps=(\d+) violations=0 unchecked=0`)
	match := line.FindStringSubmatch(log)
	if match == nil {
		t.Fatalf("no word of checked invariants:\n%s", log)
	}
	steps, _ := strconv.Atoi(match[1])
	return steps
}
