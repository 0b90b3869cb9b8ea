package main

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
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
			want := "haproxy-discovery: --listen " + strconv.Quote(bad.address) + ": "
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

// What is wrong with where the inputs come from is seen while it lasts; the fleet stands.
func TestSourcesAreShown(t *testing.T) {
	f := newFleet(t, "127.88.0.3")
	dir := credentialsDir(t, "admin", password)
	s := start(t, runArgs(f, dir, "--listen", "127.0.0.1:0")...)
	url := servedAt(s)
	await := func(path string, parts ...string) {
		t.Helper()
		awaitText(t, url+path, parts...)
	}
	await("/debug/fleet", `"name": "stream of pods",
      "state": "being read",
      "error": ""`, `"state": "followed",
      "error": ""`)
	s.send(list(pod("hap-0", "u0", "127.88.0.3")) + "garbage\n")
	s.awaitFleet("u0")
	await("/metrics", `haptic_discovery_source_up{source="credentials"} 1`,
		`haptic_discovery_source_up{source="pods"} 1`)
	age := func() float64 {
		t.Helper()
		sample := regexp.MustCompile(`(?m)^haptic_discovery_store_view_age_seconds (\S+)$`)
		_, metrics := fetch(t, url+"/metrics")
		age, err := strconv.ParseFloat(sample.FindStringSubmatch(metrics)[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		return age
	}
	if age := age(); age > 1 {
		t.Errorf("the view is %v s old while the stream goes on", age)
	}
	await("/debug/fleet", "being read, 1 objects skipped")

	file := filepath.Join(dir, "dataplane_password")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	await("/debug/fleet", "dataplane_password\\\" cannot be read", `"fleet_size": 1`)
	await("/metrics", `haptic_discovery_source_up{source="credentials"} 0`)
	if err := os.WriteFile(file, []byte(password), 0o600); err != nil {
		t.Fatal(err)
	}
	await("/metrics", `haptic_discovery_source_up{source="credentials"} 1`)
	_ = s.stdin.Close()
	await("/debug/fleet", `"state": "has ended, 1 objects skipped"`, "nothing more is learned")
	await("/metrics", `haptic_discovery_source_up{source="pods"} 0`)
	s.awaitStderr("the stream of pods has ended")
	for deadline := time.Now().Add(patience); age() < 1.5; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the view does not grow old")
		}
	}
}

// awaitText waits for an answer that holds all these parts.
func awaitText(t *testing.T, url string, parts ...string) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		_, text := fetch(t, url)
		missing := slices.DeleteFunc(slices.Clone(parts), func(part string) bool {
			return strings.Contains(text, part)
		})
		if len(missing) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s lacks %q:\n%s", url, missing, text)
		}
	}
}

// A certificate that is renewed by half is told and seen at once, not with the next rollout.
func TestUnusableTLSFilesAreShown(t *testing.T) {
	authority := httptest.NewTLSServer(nil)
	defer authority.Close()
	good := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authority.Certificate().Raw})
	path := filepath.Join(t.TempDir(), "ca.pem")
	write := func(content []byte) {
		t.Helper()
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(good)
	s := start(t, runArgs(newFleet(t, "127.88.0.1"), credentialsDir(t, "admin", password), "--listen", "127.0.0.1:0",
		"--agent-scheme", "https", "--agent-ca", path)...)
	url := servedAt(s)
	awaitText(t, url+"/metrics", `haptic_discovery_source_up{source="agent_tls"} 1`)
	write(good[:len(good)/2])
	awaitText(t, url+"/metrics", `haptic_discovery_source_up{source="agent_tls"} 0`)
	awaitText(t, url+"/debug/fleet", "holds a PEM block that is cut off or broken")
	s.awaitStderr("what was read last stays in use")
	write(good)
	awaitText(t, url+"/metrics", `haptic_discovery_source_up{source="agent_tls"} 1`)
	s.awaitStderr("usable again")
}

// servedAt waits for the server and gives its URL.
func servedAt(s *started) string {
	s.t.Helper()
	s.awaitStderr("serving HTTP")
	return "http://" + regexp.MustCompile(`address=(\S+)`).FindStringSubmatch(s.stderr())[1]
}

// fetch gives status and body, neither of which, nor the headers, may hold the password.
func fetch(t *testing.T, url string) (status int, body string) {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	noTrace(t, url, fmt.Sprint(response.Header)+string(text))
	return response.StatusCode, string(text)
}

// The command serves what the flag says, and ends within a second while a page is open.
func TestListen(t *testing.T) {
	f := newFleet(t, "127.88.0.1")
	log := filepath.Join(t.TempDir(), "inputs.jsonl")
	s := start(t, runArgs(f, credentialsDir(t, "admin", password), "--listen", "127.0.0.1:0", "--record", log)...)
	url := servedAt(s)
	get := func(path string) (int, string) {
		t.Helper()
		return fetch(t, url+path)
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
