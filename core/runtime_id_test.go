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
		"finished init":        set("sha256:zzzz", "status", "initContainerStatuses", 0, "imageID"),
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
		two  = "3f4914af2defc7fbfe94d4c3da51406f9916867a2bfa567b3ca8e535fa745536"
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

// Each of the three texts of each container enters; so does each container (R11).
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
		for _, field := range []string{"name", "imageID", "containerID"} {
			changed := object(t, "running.json")
			set("other", "status", "containerStatuses", container, field)(t, changed)
			note(fmt.Sprint(container, field), changed)
		}
	}
	running := object(t, "running.json")
	set(map[string]any{"running": map[string]any{}},
		"status", "initContainerStatuses", 0, "state")(t, running)
	note("the init container is running", running)
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
		{entry("a", "bc", "")},
		{entry("a", "b", "c")},
		{entry("", "abc", "")},
		{entry("abc", "", "")},
		{entry("a", "b", "c"), entry("d", "e", "f")},
		{entry("a", "b", "f"), entry("d", "e", "c")},
		{entry("a", "e", "c"), entry("d", "b", "f")},
		{entry("a\x00b", "c", "")},
		{entry("a", "\x00bc", "")},
		{entry("a/b", "c", "d")},
		{entry("a", "b/c", "d")},
		{entry("\x01a", "b", "c")},
		{entry("a", "b", "c\x01d\x01e\x01f")},
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
