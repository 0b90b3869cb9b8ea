package core_test

import (
	"errors"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// An object as kubectl prints it, and the facts that are read from it. A finished init container
// and an ephemeral one stand beside the agent; HAProxy is not ready (R2, R4).
func TestReadPodReadsTheFacts(t *testing.T) {
	pod := read(t, object(t, "running.json"))
	want := &core.Pod{
		Key: core.PodKey{Namespace: "lb", Name: "hap-0"},
		UID: "9c5a1a52-8a5e-4a0e-9d8e-2d7a3c1f0b11",
		Labels: map[string]string{
			"app.kubernetes.io/component": "loadbalancer", "pod-template-hash": "6d4b75cb6d",
		},
		IP: netip.MustParseAddr("10.1.0.10"), Phase: "Running", Agent: core.AgentRunning,
	}
	want.RuntimeID = pod.RuntimeID
	if diff := cmp.Diff(want, pod); diff != "" {
		t.Errorf("- want, + read:\n%s", diff)
	}
	if len(pod.RuntimeID) != 64 {
		t.Errorf("the runtime ID %q is no SHA-256 in hexadecimal", pod.RuntimeID)
	}
}

// What each pod is to discovery, from its object to its verdict: verdicts are asked through
// Discovery, which has nothing else to go by.
func TestReadPodVerdicts(t *testing.T) {
	running := map[string]any{"running": map[string]any{}}
	terminated := map[string]any{"terminated": map[string]any{"exitCode": int64(1)}}
	waiting := map[string]any{"waiting": map[string]any{"reason": "CrashLoopBackOff"}}
	tests := []struct {
		name    string
		fixture string
		change  func(*testing.T, *unstructured.Unstructured)
		want    string
	}{
		{"finished init container beside the agent", "running.json", nil, "http://10.1.0.10:5555"},
		{"agent as a native sidecar", "native_sidecar.json", nil, "http://[fd00::a]:5555"},
		{"native sidecar has terminated", "native_sidecar.json",
			set(terminated, "status", "initContainerStatuses", 0, "state"), "terminated"},
		{"evicted: no IP, no statuses", "evicted.json", nil, "ignored"},
		{"terminating, a time in the past", "running.json",
			set("2001-01-01T00:00:00Z", "metadata", "deletionTimestamp"), "ignored"},
		{"terminating, a time in the future", "running.json",
			set("2099-01-01T00:00:00Z", "metadata", "deletionTimestamp"), "ignored"},
		{"terminating, no time at all", "running.json",
			set(int64(0), "metadata", "deletionTimestamp"), "ignored"},
		{"terminating, an empty time", "running.json",
			set("", "metadata", "deletionTimestamp"), "ignored"},
		{"not terminating: null", "running.json",
			set(nil, "metadata", "deletionTimestamp"), "http://10.1.0.10:5555"},
		{"phase Unknown", "running.json", set("Unknown", "status", "phase"), "ignored"},
		{"no IP yet", "running.json", set("", "status", "podIP"), "ignored"},
		{"only podIPs", "running.json", set(nil, "status", "podIP"), "ignored"},
		{"podIPs in another order", "running.json", set([]any{
			map[string]any{"ip": "fd00::a"}, map[string]any{"ip": "10.1.0.10"},
		}, "status", "podIPs"), "http://10.1.0.10:5555"},
		{"IPv6", "running.json", set("2001:db8::10", "status", "podIP"), "http://[2001:db8::10]:5555"},
		{"IPv4 mapped", "running.json",
			set("::ffff:10.1.0.10", "status", "podIP"), "http://[::ffff:10.1.0.10]:5555"},
		{"half an IP", "running.json", set("10.1.0", "status", "podIP"), "malformed"},
		{"an IP with a zone", "running.json", set("fe80::1%eth0", "status", "podIP"), "malformed"},
		{"a host name", "running.json", set("example.com", "status", "podIP"), "malformed"},
		{"agent terminated, an ephemeral namesake runs", "running.json", all(
			set(terminated, "status", "containerStatuses", 1, "state"),
			set("agent", "status", "ephemeralContainerStatuses", 0, "name"),
			set(running, "status", "ephemeralContainerStatuses", 0, "state")), "terminated"},
		{"only agent-sidecar", "running.json",
			set("agent-sidecar", "status", "containerStatuses", 1, "name"), "missing"},
		{"agent crashes", "running.json",
			set(waiting, "status", "containerStatuses", 1, "state"), "waiting"},
		{"agent without a state waits", "running.json",
			set(map[string]any{}, "status", "containerStatuses", 1, "state"), "waiting"},
		{"no statuses at all", "running.json", set(nil, "status", "containerStatuses"), "missing"},
		{"malformed and agent missing: R3 before R2", "running.json", all(
			set("10.1.0", "status", "podIP"),
			set("x", "status", "containerStatuses", 1, "name")), "malformed"},
		{"malformed and terminating: R1 before R3", "running.json", all(
			set("10.1.0", "status", "podIP"), set("now", "metadata", "deletionTimestamp")), "ignored"},
		{"malformed and pending: R1 before R3", "running.json", all(
			set("a list", "status", "containerStatuses"), set("Pending", "status", "phase")), "ignored"},
		{"malformed and without IP: R1 before R3", "running.json", all(
			set("a list", "status", "containerStatuses"), set(nil, "status", "podIP")), "ignored"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			object := object(t, test.fixture)
			if test.change != nil {
				test.change(t, object)
			}
			if got := verdictOf(t, read(t, object)); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// What has no name or no UID is no pod (R3): watch errors, bookmarks, nothing at all.
func TestReadPodRefusesWhatIsNoPod(t *testing.T) {
	noUID := object(t, "running.json")
	set("", "metadata", "uid")(t, noUID)
	noName := object(t, "running.json")
	set(nil, "metadata", "name")(t, noName)
	numberedUID := object(t, "running.json")
	set(int64(7), "metadata", "uid")(t, numberedUID)
	for name, object := range map[string]*unstructured.Unstructured{
		"nil":               nil,
		"empty":             {},
		"empty object":      {Object: map[string]any{}},
		"watch error":       object(t, "watch_error.json"),
		"bookmark":          object(t, "bookmark.json"),
		"no UID":            noUID,
		"no name":           noName,
		"UID is a number":   numberedUID,
		"metadata a string": {Object: map[string]any{"metadata": "x"}},
	} {
		pod, err := core.ReadPod(object, "agent")
		if !errors.Is(err, core.ErrNotAPod) || pod != nil {
			t.Errorf("%s: %v, %v", name, pod, err)
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: the error is more than one line: %q", name, err)
		}
	}
}

// What is said of a fact that cannot be read, of each type and at each place.
func TestReadPodSaysWhatIsWrong(t *testing.T) {
	agent := func(field ...any) []any { return append([]any{"status", "containerStatuses", 1}, field...) }
	for _, test := range []struct {
		value any
		path  []any
		want  string
	}{
		{7.5, []any{"metadata", "labels"}, "metadata.labels is a number instead of an object"},
		{int64(7), []any{"metadata", "namespace"}, "metadata.namespace is a number instead of a string"},
		{[]any{}, []any{"metadata", "labels", "x"}, `metadata.labels["x"] is a list instead of a string`},
		{"x", []any{"status"}, "status is a string instead of an object"},
		{true, []any{"status", "phase"}, "status.phase is a boolean instead of a string"},
		{map[string]any{}, []any{"status", "podIP"}, "status.podIP is an object instead of a string"},
		{"10.1.0", []any{"status", "podIP"}, `status.podIP "10.1.0" is no IP address`},
		{"fe80::1%e", []any{"status", "podIP"}, `status.podIP "fe80::1%e" has a zone`},
		{"0.0.0.0", []any{"status", "podIP"}, `status.podIP "0.0.0.0" is no address of a pod`},
		{"::", []any{"status", "podIP"}, `status.podIP "::" is no address of a pod`},
		{nil, agent(), "status.containerStatuses[1] is null instead of an object"},
		{"x", []any{"status", "initContainerStatuses"},
			"status.initContainerStatuses is a string instead of a list"},
		{true, agent("imageID"), "status.containerStatuses[1].imageID is a boolean instead of a string"},
		{"x", agent("state"), "status.containerStatuses[1].state is a string instead of an object"},
		{"x", agent("state", "running"),
			"status.containerStatuses[1].state.running is a string instead of an object"},
	} {
		damaged := object(t, "running.json")
		set(test.value, test.path...)(t, damaged)
		if pod := read(t, damaged); pod.Malformed != test.want {
			t.Errorf("%v: %q instead of %q", test.path, pod.Malformed, test.want)
		}
	}
}

// A pod without labels has none, one with a single label has that.
func TestReadPodReadsFewLabels(t *testing.T) {
	for _, labels := range []map[string]any{nil, {}, {"app": "lb"}, {"app": nil}, {"": ""}} {
		labelled := object(t, "running.json")
		set(labels, "metadata", "labels")(t, labelled)
		var want map[string]string
		for name, value := range labels {
			text, _ := value.(string)
			want = map[string]string{name: text}
		}
		if diff := cmp.Diff(want, read(t, labelled).Labels); diff != "" {
			t.Errorf("%v: - want, + read:\n%s", labels, diff)
		}
	}
}

// Kubernetes gives a container one state. Of several, running comes first, then terminated.
func TestReadPodWithSeveralStates(t *testing.T) {
	states := map[string]any{
		"waiting": map[string]any{}, "terminated": map[string]any{}, "running": map[string]any{},
	}
	for _, want := range []core.AgentState{core.AgentRunning, core.AgentTerminated, core.AgentWaiting} {
		several := object(t, "running.json")
		set(maps.Clone(states), "status", "containerStatuses", 1, "state")(t, several)
		if pod := read(t, several); pod.Agent != want {
			t.Errorf("of %v, %q is read", states, pod.Agent)
		}
		delete(states, string(want))
	}
}

// Of several facts that cannot be read always the same one is named: facts are compared, and a text
// that changed from reading to reading would make each of them news (R8).
func TestReadPodNamesTheSameFactEachTime(t *testing.T) {
	damaged := object(t, "running.json")
	labels := map[string]any{}
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		labels[name] = int64(1)
	}
	set(labels, "metadata", "labels")(t, damaged)
	set(true, "status", "podIP")(t, damaged)
	first := read(t, damaged)
	for range 50 {
		if again := read(t, damaged); !again.Equal(first) {
			t.Fatalf("read as %q, then as %q", first.Malformed, again.Malformed)
		}
	}
}

// The agent's container has the name that was configured, wherever it stands (R2).
func TestReadPodFindsTheAgentByName(t *testing.T) {
	pod, err := core.ReadPod(object(t, "running.json"), "haproxy")
	if err != nil || pod.Agent != core.AgentRunning {
		t.Errorf("haproxy: %v, %v", pod, err)
	}
	pod, err = core.ReadPod(object(t, "running.json"), "prepare")
	if err != nil || pod.Agent != core.AgentTerminated {
		t.Errorf("the finished init container: %v, %v", pod, err)
	}
}

// verdictOf is the URL of a candidate, "ignored", or the cause of a rejection.
func verdictOf(t *testing.T, pod *core.Pod) string {
	t.Helper()
	state := core.New(core.Config{})
	for _, input := range []core.Input{
		core.ConfigValidated{AgentPort: 5555},
		core.CredentialsUpdated{Credentials: credentials(t, "admin", "a-pass")},
		core.PodStoreSet{Pods: []*core.Pod{pod}, Synced: core.SyncDone},
	} {
		state, _ = core.Reduce(state, input)
	}
	switch standing, _ := state.Standing(pod.Key); standing.Verdict.Kind {
	case core.IsCandidate:
		return standing.Identity.URL
	case core.Rejected:
		return string(standing.Verdict.Cause)
	default:
		return standing.Verdict.Kind.String()
	}
}

func read(t *testing.T, object *unstructured.Unstructured) *core.Pod {
	t.Helper()
	pod, err := core.ReadPod(object, "agent")
	if err != nil {
		t.Fatal(err)
	}
	return pod
}

func object(t *testing.T, fixture string) *unstructured.Unstructured {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "pods", fixture))
	if err != nil {
		t.Fatal(err)
	}
	object := &unstructured.Unstructured{}
	if fixture == "watch_error.json" { // Its status is no object, which only lists may have.
		object.Object = map[string]any{}
		err = decode(text, &object.Object)
	} else {
		err = object.UnmarshalJSON(text)
	}
	if err != nil {
		t.Fatal(err)
	}
	return object
}
