package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every bad invocation: status 2 and one line that names what is wrong.
func TestBadUsageIsOneLineAndStatusTwo(t *testing.T) {
	good := credentialsDir(t, "admin", "s3cret-value")
	noKey := t.TempDir()
	writeFile(t, filepath.Join(noKey, "dataplane_username"), "admin")
	empty := credentialsDir(t, "admin", "")
	damaged := filepath.Join(t.TempDir(), "damaged.jsonl")
	writeFile(t, damaged, "no log\nat all\n")
	run := func(more ...string) []string {
		return append([]string{"run", "--pods-from", "-", "--credentials-dir", good}, more...)
	}
	for _, bad := range []struct {
		args  []string
		names string
	}{
		{[]string{"frobnicate"}, "frobnicate"},
		{[]string{"run"}, "no cluster is configured"},
		{[]string{"run", "--kubeconfig", "/nowhere/config"}, "/nowhere/config"},
		{[]string{"run", "--context", "staging"}, "staging"},
		{[]string{"run", "--credentials-dir", good, "--credentials-secret", "x"}, "--credentials-secret"},
		{[]string{"run", "--leader-elect-retry-period", "1s"}, "--leader-elect"},
		{[]string{"run", "--leader-elect", "--leader-elect-retry-period", "9s"}, "retry period 9s"},
		{[]string{"run", "--leader-elect", "--once"}, "--once"},
		{[]string{"run", "--audit-interval", "-1s"}, "--audit-interval -1s is negative"},
		{[]string{"run", "--audit-interval", "999ms"}, "--audit-interval 999ms is below 1s"},
		{run("--audit-interval", "5m"), "--audit-interval makes no sense with --pods-from"},
		{run("--context", "staging"), "--context"},
		{run("--kubeconfig", "x"), "--kubeconfig"},
		{run("--credentials-secret", "x"), "--credentials-secret"},
		{run("--leader-elect"), "--leader-elect"},
		{[]string{"manifests"}, "--namespace"},
		{[]string{"manifests", "-n", "lb"}, "--image"},
		{[]string{"manifests", "-n", "l/b", "--image", "x"}, "l/b"},
		{[]string{"manifests", "-n", "lb", "--image", "x", "--credentials-secret", "a/b"}, "a/b"},
		{[]string{"manifests", "-n", "lb", "--alerts", "some"}, "some"},
		{[]string{"manifests", "-n", "lb", "--image", "x", "--alerts", "rules"}, "--image"},
		{[]string{"manifests", "--alerts", "rules", "--", "--once"}, "--once"},
		{[]string{"manifests", "-n", "lb", "--image", "bad image"}, "bad image"},
		{[]string{"manifests", "-n", "lb", "--image", "x", "--", "--log-level", "loud"}, "loud"},
		{[]string{"manifests", "-n", "lb", "--image", "x", "--", "-o", "xml"}, "xml"},
		{[]string{"manifests", "-n", "lb", "--image", "x", "--", "--help"}, "--help"},
		{[]string{"--frobnicate"}, "haproxy-discovery: unknown flag: --frobnicate"},
		{[]string{"manifests", "-n", "lb", "--image", "x", "--", "--agent-prt", "1"}, "--agent-prt"},
		{[]string{"manifests", "-n", "lb", "--image", "x", "--", "--pods-from", "-"}, "--pods-from"},
		{[]string{"manifests", "-n", "lb", "--image", "x", "--", "more"}, "more"},
		{[]string{"run", "--pods-from", "-"}, "--credentials-dir"},
		{[]string{"run", "--pods-from", "/nowhere/pods.json", "--credentials-dir", good}, "/nowhere/pods.json"},
		{[]string{"run", "--pods-from", good, "--credentials-dir", good}, "directory"},
		{[]string{"run", "--pods-from", "-", "--credentials-dir", "/nowhere"}, "/nowhere"},
		{[]string{"run", "--pods-from", "-", "--credentials-dir", noKey}, "dataplane_password"},
		{[]string{"run", "--pods-from", "-", "--credentials-dir", empty}, "dataplane_password"},
		{run("extra"), "extra"},
		{run("--unknown"), "--unknown"},
		{run("--agent-port", "65536"), "65536"},
		{run("--probe-timeout", "0s"), "--probe-timeout 0s is not positive"},
		{run("--probe-timeout", "2s", "--max-probe-timeout", "1s"), "--max-probe-timeout 1s is less than --probe-timeout 2s"},
		{run("--retry-delay", "-1s"), "--retry-delay -1s is not positive"},
		{run("--max-retry-delay", "10ms"), "--max-retry-delay 10ms is less than --retry-delay 1s"},
		{run("--max-probes", "0"), "--max-probes 0 is less than 1"},
		{run("--max-probes", "4", "--max-retries", "5"), "--max-retries 5 is not between 1 and --max-probes 4"},
		{[]string{"demo", "--max-retries", "0"}, "--max-retries 0 is not between 1 and --max-probes 16"},
		{run("--agent-port", "0"), "--agent-port"},
		{run("--agent-port", "many"), "many"},
		{run("--agent-scheme", "gopher"), "gopher"},
		{run("--agent-container", ""), "--agent-container"},
		{run("--agent-ca", "/nowhere/ca.pem", "--agent-scheme", "https"), "/nowhere/ca.pem"},
		{run("--agent-cert", "/nowhere/c.pem", "--agent-scheme", "https"), "--agent-key"},
		{run("--agent-ca", "ca.pem"), "--agent-ca makes no sense without --agent-scheme https"},
		{run("--agent-server-name", "x"), "--agent-server-name makes no sense"},
		{run("-n", "BAD NS"), "BAD NS"},
		{run("-l", "a in"), "--selector"},
		{run("-o", "yaml"), "yaml"},
		{run("--log-level", "loud"), "loud"},
		{run("--drift-interval", "-1s"), "--drift-interval"},
		{run("--record", "/nowhere/log.jsonl"), "/nowhere/log.jsonl"},
		{[]string{"demo", "--pods", "0"}, "--pods"},
		{[]string{"demo", "--pods", "2", "--hung", "3"}, "--hung"},
		{[]string{"replay"}, "log"},
		{[]string{"replay", "/nowhere/log.jsonl"}, "/nowhere/log.jsonl"},
		{[]string{"replay", damaged}, "line 1"},
		{[]string{"replay", damaged, "--until", "0"}, "--until"},
		{[]string{"replay", damaged, "--pod", "nonsense"}, "nonsense"},
	} {
		got := command(t, "", bad.args...)
		if got.status != 2 || strings.Count(got.errOut, "\n") != 1 || !strings.Contains(got.errOut, bad.names) {
			t.Errorf("%v: status %d: %q (should name %q)", bad.args, got.status, got.errOut, bad.names)
		}
		if got.out != "" || strings.Contains(got.errOut, "s3cret") {
			t.Errorf("%v: output %q, %q", bad.args, got.out, got.errOut)
		}
	}
	if content, err := os.ReadFile(damaged); err != nil || string(content) != "no log\nat all\n" {
		t.Errorf("a file that is no log was changed: %q %v", content, err)
	}
}

func TestVersionHelpAndCompletion(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"version"}, "haproxy-discovery "},
		{[]string{"--version"}, "haproxy-discovery "},
		{nil, "Available Commands"},
		{[]string{"run", "--help"}, "--credentials-dir"},
		{[]string{"completion", "bash"}, "bash completion"},
	} {
		if got := command(t, "", c.args...); got.status != 0 || !strings.Contains(got.out, c.want) {
			t.Errorf("%v: status %d, %q", c.args, got.status, got.out)
		}
	}
}
