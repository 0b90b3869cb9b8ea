package core_test

import (
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// The runtime ID is the same as long as no container is replaced: the order of the lists, restart
// counts, readiness and times do not enter (R8).
func TestRuntimeIDIgnoresWhatIsNoEpoch(t *testing.T) {
	before := read(t, object(t, "running.json"))
	statuses := func(t *testing.T, object *unstructured.Unstructured) []any {
		t.Helper()
		list, _, err := unstructured.NestedSlice(object.Object, "status", "containerStatuses")
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	for name, change := range map[string]func(*testing.T, *unstructured.Unstructured){
		"another order": func(t *testing.T, object *unstructured.Unstructured) {
			list := statuses(t, object)
			slices.Reverse(list)
			set(list, "status", "containerStatuses")(t, object)
		},
		"restart count falls": set(int64(0), "status", "containerStatuses", 0, "restartCount"),
		"ready":               set(true, "status", "containerStatuses", 0, "ready"),
		"started":             set(false, "status", "containerStatuses", 0, "started"),
		"image tag":           set("haproxy:latest", "status", "containerStatuses", 0, "image"),
		"startedAt jumps ahead": set("2026-03-01T10:10:05Z",
			"status", "containerStatuses", 0, "state", "running", "startedAt"),
		"created earlier":  set("2020-01-01T00:00:00Z", "metadata", "creationTimestamp"),
		"resource version": set("not a number", "metadata", "resourceVersion"),
		"last state": set(map[string]any{"terminated": nil},
			"status", "containerStatuses", 0, "lastState"),
		"image spelled otherwise": set("docker.io/library/agent@sha256:cccc",
			"status", "containerStatuses", 1, "imageID"),
		"init container": set("containerd://zz",
			"status", "initContainerStatuses", 0, "containerID"),
		"init container runs": set(map[string]any{"running": map[string]any{}},
			"status", "initContainerStatuses", 0, "state"),
		"ephemeral container":  set("sha256:zzzz", "status", "ephemeralContainerStatuses", 0, "imageID"),
		"resources inside":     set([]any{}, "spec", "containers"),
		"conditions":           set(nil, "status", "conditions"),
		"no init list":         set(nil, "status", "initContainerStatuses"),
		"no ephemeral list":    set(nil, "status", "ephemeralContainerStatuses"),
		"annotation of a name": set("x", "metadata", "annotations", "y"),
	} {
		changed := object(t, "running.json")
		change(t, changed)
		if after := read(t, changed); !after.Equal(before) {
			t.Errorf("%s: the facts differ: %+v", name, *after)
		}
	}
}

// It is the same in every build: else the log of an older one would replay with other effects.
// Whether a container is a native sidecar does not enter.
func TestRuntimeIDIsPinned(t *testing.T) {
	const (
		two  = "77d0b97827937a9796441bbf506474ec0b88ee5f45d2980e250ef27716139cc1"
		none = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	)
	for fixture, want := range map[string]core.RuntimeID{
		"running.json": two, "native_sidecar.json": two, "evicted.json": none,
	} {
		if got := read(t, object(t, fixture)).RuntimeID; got != want {
			t.Errorf("%s: %s instead of %s", fixture, got, want)
		}
	}
}

// A native sidecar that crashes and returns beside the agent does not touch the agent; the agent that
// does so as a native sidecar is another one afterwards, and rejected in between (R2).
func TestRuntimeIDOfNativeSidecars(t *testing.T) {
	crash := map[string]any{"waiting": map[string]any{"reason": "CrashLoopBackOff"}}
	beside := func(state any, id string) map[string]any {
		return map[string]any{"name": "log-shipper", "containerID": id, "state": state}
	}
	sidecars := func(t *testing.T, others ...any) *unstructured.Unstructured {
		t.Helper()
		pod := object(t, "native_sidecar.json")
		inits, _, _ := unstructured.NestedSlice(pod.Object, "status", "initContainerStatuses")
		set(append(others, inits...), "status", "initContainerStatuses")(t, pod)
		return pod
	}
	alone := read(t, sidecars(t))
	running := map[string]any{"running": map[string]any{}}
	for name, other := range map[string]map[string]any{
		"starts": beside(running, "containerd://d1"), "crashes": beside(crash, "containerd://d1"),
		"returns": beside(running, "containerd://d2"), "waits": beside(crash, ""),
	} {
		if pod := read(t, sidecars(t, other)); !pod.Equal(alone) {
			t.Errorf("another sidecar %s: the facts differ: %+v", name, *pod)
		}
	}
	crashed, returned := sidecars(t), sidecars(t)
	set(crash, "status", "initContainerStatuses", 0, "state")(t, crashed)
	if pod := read(t, crashed); pod.Agent != core.AgentWaiting {
		t.Errorf("the agent that crashes is %q", pod.Agent)
	}
	set("containerd://c2", "status", "initContainerStatuses", 0, "containerID")(t, returned)
	if pod := read(t, returned); pod.RuntimeID == alone.RuntimeID || pod.Agent != core.AgentRunning {
		t.Errorf("the agent that returns is %q with the runtime ID of before", pod.Agent)
	}
}

// Name and container ID of each container enter, and so does each container (R11). The image ID does
// where there is no container ID.
func TestRuntimeIDIsSensitive(t *testing.T) {
	seen := map[core.RuntimeID]string{}
	note := func(name string, object *unstructured.Unstructured) {
		t.Helper()
		id := read(t, object).RuntimeID
		if other, known := seen[id]; known {
			t.Errorf("%s and %s have the same runtime ID", name, other)
		}
		seen[id] = name
	}
	note("running", object(t, "running.json"))
	for container := range 2 {
		for _, field := range []string{"name", "containerID"} {
			changed := object(t, "running.json")
			set("other", "status", "containerStatuses", container, field)(t, changed)
			note(fmt.Sprint(container, field), changed)
		}
		for _, image := range []any{nil, "sha256:one", "sha256:two"} {
			changed := object(t, "running.json")
			set(nil, "status", "containerStatuses", container, "containerID")(t, changed)
			set(image, "status", "containerStatuses", container, "imageID")(t, changed)
			note(fmt.Sprint(container, "without ID, of image ", image), changed)
		}
	}
	none := object(t, "running.json")
	set([]any{}, "status", "containerStatuses")(t, none)
	note("no containers", none)
}

// No two lists of containers have the same encoding: not even where one text ends with what another
// begins with, or holds what might separate them.
func TestRuntimeIDIsUnambiguous(t *testing.T) {
	entry := func(name, image, id string) any {
		return map[string]any{"name": name, "imageID": image, "containerID": id}
	}
	seen := map[core.RuntimeID]int{}
	for i, list := range [][]any{
		{},
		{entry("", "", "")},
		{entry("", "", ""), entry("", "", "")},
		{entry("ab", "c", "")},
		{entry("ab", "", "c")},
		{entry("a", "bc", "")},
		{entry("a", "", "bc")},
		{entry("", "abc", "")},
		{entry("", "", "abc")},
		{entry("abc", "", "")},
		{entry("a", "", "c"), entry("d", "", "f")},
		{entry("a", "", "f"), entry("d", "", "c")},
		{entry("a", "c", ""), entry("d", "f", "")},
		{entry("a\x00b", "c", "")},
		{entry("a", "\x00bc", "")},
		{entry("a/b", "", "d")},
		{entry("a", "", "b/d")},
		{entry("\x01a", "", "b")},
		{entry("a", "", "c\x00\x01d\x01f")},
	} {
		changed := object(t, "running.json")
		set(list, "status", "containerStatuses")(t, changed)
		id := read(t, changed).RuntimeID
		if other, known := seen[id]; known {
			t.Errorf("lists %d and %d have the same runtime ID", i, other)
		}
		seen[id] = i
	}
}
