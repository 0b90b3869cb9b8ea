package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func runArgs(f *fleet, dir string, more ...string) []string {
	return append([]string{
		"run", "--pods-from", "-", "--credentials-dir", dir, "--agent-port", fmt.Sprint(f.port), "-o", "json",
	}, more...)
}

func TestOncePrintsTheContract(t *testing.T) {
	f := newFleet(t, "127.88.0.1")
	pods := list(pod("hap-0", "u0", "127.88.0.1"), strings.Replace(pod("hap-1", "u1", "10.1.0.1"), "running", "waiting", 1))
	got := command(t, pods, runArgs(f, credentialsDir(t, "admin", password), "--once")...)
	if got.status != 0 {
		t.Fatalf("status %d: %s", got.status, got.errOut)
	}
	events := got.events(t)
	if len(events) != 2 {
		t.Fatalf("events:\n%s", got.out)
	}
	for _, event := range events {
		if _, err := time.Parse(time.RFC3339, event["time"].(string)); err != nil {
			t.Error(err)
		}
		delete(event, "time")
	}
	wantRejected := `map[attempt:0 cause:waiting detail: event:HAProxyPodRejected name:hap-1 namespace:lb` +
		` reason:agent_container_not_running retry_in_ms:0 uid:u1]`
	if got := fmt.Sprint(events[0]); got != wantRejected {
		t.Errorf("got  %s\nwant %s", got, wantRejected)
	}
	endpoint := events[1]["endpoints"].([]any)[0].(map[string]any)
	if len(endpoint["runtime_id"].(string)) != 64 {
		t.Errorf("runtime_id %v", endpoint["runtime_id"])
	}
	delete(endpoint, "runtime_id")
	wantDiscovered := fmt.Sprintf(`map[added:[lb/hap-0] count:1 credentials_changed:false endpoints:[map[`+
		`haproxy_major:3 haproxy_minor:4 haproxy_version:3.4.3 name:hap-0 namespace:lb uid:u0`+
		` url:http://127.88.0.1:%d username:admin]] event:HAProxyPodsDiscovered generation:1`+
		` removed:[] replay:false trigger:probe_finished updated:[]]`, f.port)
	if got := fmt.Sprint(events[1]); got != wantDiscovered {
		t.Errorf("got  %s\nwant %s", got, wantDiscovered)
	}
	noTrace(t, "output", got.out+got.errOut)
}

func TestOnceEndsWithAllRejected(t *testing.T) {
	f := newFleet(t, "127.88.0.1")
	got := command(t, pod("hap-0", "u0", "127.88.0.99"), runArgs(f, credentialsDir(t, "admin", password), "--once")...)
	if got.status != 0 || !strings.Contains(got.out, `"cause":"refused"`) || !strings.Contains(got.out, `"count":0`) {
		t.Errorf("status %d:\n%s%s", got.status, got.out, got.errOut)
	}
}

func TestOnceWithoutAnyPod(t *testing.T) {
	f := newFleet(t, "127.88.0.1")
	got := command(t, "", runArgs(f, credentialsDir(t, "admin", password), "--once")...)
	if got.status != 1 || got.out != "" || !strings.Contains(got.errOut, "the input is empty") {
		t.Errorf("status %d:\n%s%s", got.status, got.out, got.errOut)
	}
	got = command(t, list(), runArgs(f, credentialsDir(t, "admin", password), "--once")...)
	if got.status != 0 || !strings.Contains(got.out, `"count":0`) {
		t.Errorf("an empty list: status %d:\n%s%s", got.status, got.out, got.errOut)
	}
}

// The whole of it: watch events in, a rollout, rotated credentials, a recording, a replay.
func TestFollowsAWatchRotatesAndReplays(t *testing.T) {
	f := newFleet(t, "127.88.0.1", "127.88.0.2", "127.88.0.3")
	dir := credentialsDir(t, "admin", password)
	log := filepath.Join(t.TempDir(), "inputs.jsonl")
	s := start(t, runArgs(f, dir, "--record", log, "--drift-interval", "100ms")...)
	s.send(watchEvent("ADDED", pod("hap-0", "u0", "127.88.0.1")))
	s.send(watchEvent("ADDED", pod("hap-1", "u1", "127.88.0.2")))
	s.send(watchEvent("BOOKMARK", `{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"7",
		"annotations":{"k8s.io/initial-events-end":"true"}}}`))
	s.awaitFleet("u0", "u1")

	s.send("this is no pod\n" + watchEvent("MODIFIED", pod("hap-0", "u2", "127.88.0.3")))
	s.await("T(u0)", func(e map[string]any) bool {
		return e["event"] == "HAProxyPodTerminated" && e["uid"] == "u0" && e["cause"] == "replaced"
	})
	// The fleet without u0 is told in between, unless the printer lags: then it is coalesced.
	s.awaitFleet("u2", "u1")

	requests := f.requests.Load()
	writeFile(t, filepath.Join(dir, "dataplane_password"), password+"-new")
	changed := s.await("new credentials", func(e map[string]any) bool { return e["credentials_changed"] == true })
	if fmt.Sprint(uidsOf(changed)) != "[u2 u1]" || f.requests.Load() != requests {
		t.Errorf("after the rotation: %v, %d probes", changed, f.requests.Load()-requests)
	}
	s.send(watchEvent("DELETED", pod("hap-1", "u1", "127.88.0.2")))
	s.await("T(u1)", func(e map[string]any) bool { return e["uid"] == "u1" && e["cause"] == "deleted" })
	s.awaitFleet("u2")
	_ = s.stdin.Close() // the end of the input does not end the program
	s.await("a drift tick", func(e map[string]any) bool { return e["trigger"] == "drift_prevention_triggered" })
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	if status := s.end(); status != 0 {
		t.Errorf("status %d: %s", status, s.stderr())
	}
	if !strings.Contains(s.stderr(), "skipped") {
		t.Errorf("the garbage is not named:\n%s", s.stderr())
	}
	checkRecording(t, log, s.stderr())
}

// checkRecording: the log holds no secret, is private, and replays to the same.
func checkRecording(t *testing.T, log, stderr string) {
	t.Helper()
	content, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	noTrace(t, "the log", string(content))
	noTrace(t, "stderr", stderr)
	if info, _ := os.Stat(log); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	checked := command(t, "", "replay", log, "--check", "--quiet")
	if checked.status != 0 || !strings.Contains(checked.errOut, "invariants hold") {
		t.Errorf("replay --check: status %d: %s", checked.status, checked.errOut)
	}
	replayed := command(t, "", "replay", log, "-o", "json", "--pod", "lb/hap-1", "--state")
	if replayed.status != 0 || !strings.Contains(replayed.out, `"cause":"deleted"`) {
		t.Errorf("replay --pod: status %d: %s%s", replayed.status, replayed.out, replayed.errOut)
	}
}

func TestDeliberateSilenceCompletesTheSync(t *testing.T) {
	f := newFleet(t, "127.88.0.1")
	s := start(t, runArgs(f, credentialsDir(t, "admin", password))...)
	s.send(pod("hap-0", "u0", "127.88.0.1"))
	s.awaitFleet("u0")
	s.send(list())
	s.awaitFleet()
	_ = s.cmd.Process.Signal(syscall.SIGINT)
	if status := s.end(); status != 0 {
		t.Errorf("status %d: %s", status, s.stderr())
	}
}

func TestClosedStandardOutputIsNoFailure(t *testing.T) {
	f := newFleet(t, "127.88.0.1")
	s := start(t, runArgs(f, credentialsDir(t, "admin", password), "--drift-interval", "50ms")...)
	s.send(list(pod("hap-0", "u0", "127.88.0.1")))
	s.awaitFleet("u0")
	_ = s.stdout.Close()
	if status := s.end(); status != 0 {
		t.Errorf("status %d: %s", status, s.stderr())
	}
}

func TestBadCredentialsLaterKeepTheOldOnes(t *testing.T) {
	f := newFleet(t, "127.88.0.1")
	dir := credentialsDir(t, "admin", password)
	s := start(t, runArgs(f, dir)...)
	s.send(list(pod("hap-0", "u0", "127.88.0.1")))
	s.awaitFleet("u0")
	writeFile(t, filepath.Join(dir, "dataplane_password"), "p@ss\x07word")
	s.awaitStderr("dataplane_password")
	s.send(watchEvent("ADDED", pod("hap-1", "u1", "127.88.0.1")))
	s.awaitFleet("u0", "u1")
	noTrace(t, "stderr", s.stderr())
}

// R31: a signal ends the program even while nobody reads its output.
func TestSignalEndsTheProgramWhileItsOutputIsBlocked(t *testing.T) {
	f := newFleet(t, "127.88.0.1")
	s := startUnread(t, runArgs(f, credentialsDir(t, "admin", password))...)
	var pods []string
	for i := range 800 {
		pods = append(pods, strings.Replace(pod(fmt.Sprintf("hap-%d", i), "u", "10.1.0.1"), "running", "waiting", 1))
	}
	s.send(list(pods...))
	s.awaitStderr("initial pods are complete")
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	if status := s.endUnread(); status != 0 {
		t.Errorf("status %d: %s", status, s.stderr())
	}
}

// A terminal that closes ends the program in order, as other signals do.
func TestHangup(t *testing.T) {
	f := newFleet(t, "127.88.0.1")
	s := start(t, runArgs(f, credentialsDir(t, "admin", password), "--log-level", "debug")...)
	s.awaitStderr("step")
	_ = s.cmd.Process.Signal(syscall.SIGHUP)
	if status := s.end(); status != 0 {
		t.Errorf("status %d: %s", status, s.stderr())
	}
}

func TestSignalEndsTheProgramWhileItWaitsForANamedPipe(t *testing.T) {
	f := newFleet(t, "127.88.0.1")
	pipe := filepath.Join(t.TempDir(), "pods")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, append(runArgs(f, credentialsDir(t, "admin", password)), "--pods-from", pipe, "--log-level", "debug")...)
	s.awaitStderr("step")
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	if status := s.end(); status != 0 {
		t.Errorf("status %d: %s", status, s.stderr())
	}
}

// R28: recording stops loudly when the disk is full, and discovery goes on.
func TestFullDiskStopsTheRecordingOnly(t *testing.T) {
	f := newFleet(t, "127.88.0.1")
	log := filepath.Join(t.TempDir(), "log.jsonl")
	args := runArgs(f, credentialsDir(t, "admin", password), "--once", "--record", log)
	limited := append([]string{"-c", `ulimit -f 1; trap '' XFSZ; exec "$0" "$@"`, binary}, args...)
	var pods []string
	for i := range 40 {
		pods = append(pods, pod(fmt.Sprintf("hap-%d", i), "u", "127.88.0.1"))
	}
	got := commandOf(t, "bash", list(pods...), limited...)
	if got.status != 0 || !strings.Contains(got.errOut, "recording has stopped") ||
		!strings.Contains(got.out, `"count":40`) {
		t.Errorf("status %d: %s%s", got.status, got.errOut, got.out)
	}
}
