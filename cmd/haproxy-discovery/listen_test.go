package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// An address that is taken, or none: one line that names it, before anything has begun.
func TestListenOnWhatCannotBeListenedOn(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	good := credentialsDir(t, "admin", password)
	record := filepath.Join(t.TempDir(), "inputs.jsonl")
	for _, bad := range []struct{ address, reason string }{
		{taken.Addr().String(), "address already in use"},
		{"nonsense", "missing port"},
		{"127.0.0.1:99999", "port"},
	} {
		for _, args := range [][]string{
			{"run", "--pods-from", "-", "--credentials-dir", good, "--record", record},
			{"demo", "--record", record},
		} {
			got := command(t, "", append(args, "--listen", bad.address)...)
			want := "haproxy-discovery: --listen " + bad.address + ": "
			if got.status != 2 || !strings.HasPrefix(got.errOut, want) ||
				!strings.Contains(got.errOut, bad.reason) || strings.Count(got.errOut, "\n") != 1 {
				t.Errorf("%v: status %d: %q", args, got.status, got.errOut)
			}
		}
	}
	if _, err := os.Stat(record); err == nil {
		t.Error("a log was begun")
	}
}

// The command serves what the flag says, and ends within a second while a page is open.
func TestListen(t *testing.T) {
	f := newFleet(t, "127.88.0.1")
	log := filepath.Join(t.TempDir(), "inputs.jsonl")
	s := start(t, runArgs(f, credentialsDir(t, "admin", password), "--listen", "127.0.0.1:0", "--record", log)...)
	s.awaitStderr("serving HTTP")
	url := "http://" + regexp.MustCompile(`address=(\S+)`).FindStringSubmatch(s.stderr())[1]
	get := func(path string) (int, string) {
		t.Helper()
		response, err := http.Get(url + path)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		noTrace(t, path, fmt.Sprint(response.Header)+string(text))
		return response.StatusCode, string(text)
	}
	if code, line := get("/readyz"); code != 503 || !strings.Contains(line, "waiting for sync") {
		t.Errorf("/readyz before there are pods: %d %q", code, line)
	}
	s.send(list(pod("hap-0", "u0", "127.88.0.1")))
	s.awaitFleet("u0")
	if code, _ := get("/readyz"); code != 200 {
		t.Errorf("/readyz: %d", code)
	}
	if code, _ := get("/healthz"); code != 200 {
		t.Errorf("/healthz: %d", code)
	}
	_, metrics := get("/metrics")
	for _, line := range []string{
		"haptic_discovery_fleet_size 1\n", `haptic_discovery_subscriber_lag{subscriber="output"} `,
		"haptic_discovery_input_log_bytes_total ", "go_goroutines ", "process_resident_memory_bytes ",
	} {
		if !strings.Contains(metrics, line) {
			t.Errorf("/metrics lacks %q", line)
		}
	}
	_, text := get("/debug/fleet")
	var shown struct {
		Pods []struct{ UID, Verdict string }
	}
	if err := json.Unmarshal([]byte(text), &shown); err != nil || fmt.Sprint(shown.Pods) != "[{u0 admitted}]" {
		t.Errorf("/debug/fleet: %v %+v", err, shown)
	}
	page, err := http.Get(url + "/events")
	if err != nil {
		t.Fatal(err)
	}
	defer page.Body.Close()
	begun := time.Now()
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	if status := s.end(); status != 0 || time.Since(begun) > time.Second {
		t.Errorf("status %d after %v: %s", status, time.Since(begun), s.stderr())
	}
}
