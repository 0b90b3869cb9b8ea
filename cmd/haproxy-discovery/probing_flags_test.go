package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// The numbers of the flags are those that the rules go by, and the log's header tells them.
func TestProbingFlagsReachTheRules(t *testing.T) {
	f := newFleet(t, "127.88.0.1")
	log := filepath.Join(t.TempDir(), "log.jsonl")
	pods := list(pod("hap-0", "u0", "127.88.0.99"), strings.Replace(pod("hap-1", "u1", "127.88.0.1"), "Running", "Pending", 1),
		strings.Replace(pod("hap-2", "u2", "127.88.0.1"), `"haproxy"}`, `"other"}`, 1))
	got := command(t, pods, runArgs(f, credentialsDir(t, "admin", password), "--once", "--record", log,
		"--retry-delay", "1h", "--max-probes", "3", "-l", "app=haproxy")...)
	if got.status != 0 || len(got.events(t)) != 2 {
		t.Fatalf("status %d:\n%s%s", got.status, got.out, got.errOut)
	}
	if retry := got.events(t)[0]["retry_in_ms"].(float64); retry < 0.8*3_600_000 || retry > 1.2*3_600_000 {
		t.Errorf("retry in %v ms", retry)
	}
	for _, want := range []string{
		`msg="pods are left out" cause=deselected count=1 first=lb/hap-2`,
		`msg="pods are left out" cause=not_running count=1 first=lb/hap-1`,
	} {
		if !strings.Contains(got.errOut, want) {
			t.Errorf("no %s in\n%s", want, got.errOut)
		}
	}
	if checked := command(t, "", "replay", log, "--check", "--quiet"); checked.status != 0 {
		t.Errorf("replay: %s", checked.errOut)
	}
}

func TestCompletionOffersTheValuesOfFlags(t *testing.T) {
	kubeconfig := filepath.Join(t.TempDir(), "config")
	writeFile(t, kubeconfig, `{"contexts":[{"name":"staging","context":{"cluster":"c","namespace":"lb"}},`+
		`{"name":"production","context":{"cluster":"c","namespace":"lb"}}]}`)
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"run", "-o", ""}, "json text"},
		{[]string{"demo", "-o", ""}, "json text"},
		{[]string{"replay", "-o", ""}, "json text"},
		{[]string{"run", "--agent-scheme", ""}, "http https"},
		{[]string{"run", "--log-level", ""}, "debug info warn error"},
		{[]string{"manifests", "--alerts", ""}, "PrometheusRule rules"},
		{[]string{"run", "--kubeconfig", kubeconfig, "--context", ""}, "production staging"},
		{[]string{"run", "--kubeconfig", kubeconfig, "-n", ""}, "lb"},
		{[]string{"run", "--kubeconfig", "/nowhere", "-n", ""}, ""},
	} {
		got := command(t, "", append([]string{"__complete"}, test.args...)...)
		values, directive, _ := strings.Cut(got.out, ":")
		if strings.Join(strings.Fields(values), " ") != test.want || strings.TrimSpace(directive) != "4" {
			t.Errorf("%q: got %q, want %q", test.args, got.out, test.want)
		}
	}
}
