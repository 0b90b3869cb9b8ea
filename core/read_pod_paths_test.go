package core_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// The value at every path of a valid pod is replaced by every type of JSON. ReadPod never panics,
// does not touch the object, names the fact it cannot read, and reads all other facts as before
// (R3).
func TestReadPodWithEveryTypeAtEveryPath(t *testing.T) {
	for _, fixture := range []string{"running.json", "native_sidecar.json", "evicted.json"} {
		original := object(t, fixture)
		before := read(t, original)
		checked := 0
		for path := range paths(original.Object) {
			for _, value := range []any{
				nil, true, int64(7), 1.5, "text", "", []any{}, []any{"x"}, map[string]any{},
				map[string]any{"x": "y"},
			} {
				changed := original.DeepCopy()
				set(value, path...)(t, changed)
				kept := changed.DeepCopy()
				pod, err := core.ReadPod(changed, "agent")
				if fmt.Sprint(changed.Object) != fmt.Sprint(kept.Object) {
					t.Fatalf("%v: ReadPod has changed the object", path)
				}
				checkOtherFacts(t, path, value, before, pod, err)
				checked++
			}
		}
		if checked < 100 {
			t.Errorf("%s: only %d replacements", fixture, checked)
		}
	}
}

// checkOtherFacts compares what a change at the path must not touch.
func checkOtherFacts(t *testing.T, path []any, value any, before, pod *core.Pod, err error) {
	t.Helper()
	where := fmt.Sprintf("%v = %#v", path, value)
	at := func(prefix ...any) bool {
		return len(path) <= len(prefix) && slices.Equal(path, prefix[:len(path)]) ||
			len(path) > len(prefix) && slices.Equal(path[:len(prefix)], prefix)
	}
	if at("metadata", "name") || at("metadata", "uid") {
		if text, isText := value.(string); !isText || text == "" || len(path) == 1 {
			if err == nil {
				t.Errorf("%s: is no pod, but was read", where)
			}
			return
		}
	}
	if err != nil {
		t.Errorf("%s: %v", where, err)
		return
	}
	containers := at("status", "containerStatuses") || at("status", "initContainerStatuses")
	type fact struct {
		name     string
		touched  bool
		old, now any
	}
	for _, f := range []fact{
		{"namespace", at("metadata", "namespace"), before.Key.Namespace, pod.Key.Namespace},
		{"name", at("metadata", "name"), before.Key.Name, pod.Key.Name},
		{"UID", at("metadata", "uid"), before.UID, pod.UID},
		{"terminating", at("metadata", "deletionTimestamp"), before.Terminating, pod.Terminating},
		{"labels", at("metadata", "labels"), fmt.Sprint(before.Labels), fmt.Sprint(pod.Labels)},
		{"phase", at("status", "phase"), before.Phase, pod.Phase},
		{"IP", at("status", "podIP"), before.IP, pod.IP},
		{"agent", containers || pod.Malformed != "", before.Agent, pod.Agent},
		{"what there is instead of an agent", containers || at("status", "phase") || pod.Malformed != "",
			before.NoAgent, pod.NoAgent},
		{"runtime ID", containers || pod.Malformed != "", before.RuntimeID, pod.RuntimeID},
	} {
		if !f.touched && f.old != f.now {
			t.Errorf("%s: %s was %v and is %v now", where, f.name, f.old, f.now)
		}
	}
	checkMalformed(t, where, path, value, pod)
}

// pathText writes a path with a star for what stands for many.
func pathText(path []any) string {
	var names []string
	for _, step := range path {
		if name, isName := step.(string); isName {
			names = append(names, name)
		} else {
			names = append(names, "*")
		}
	}
	if len(names) == 3 && names[1] == "labels" {
		names[2] = "*"
	}
	return strings.Join(names, " ")
}

// unreadable are the facts that say nothing where the value at a path does not fit (R3).
func unreadable(path []any) core.Facts {
	return map[string]core.Facts{
		"metadata labels": core.FactLabels, "metadata labels *": core.FactLabels,
		"status": core.FactPhase | core.FactIP, "status phase": core.FactPhase,
		"status podIP": core.FactIP,
	}[pathText(path)]
}

// typeOf gives the type that a fact has to have: what is read of a pod, and nothing else.
func typeOf(path []any) string {
	text := strings.Replace(pathText(path), "initContainerStatuses", "containerStatuses", 1)
	return map[string]string{
		"metadata":                                    "object",
		"metadata namespace":                          "string",
		"metadata labels":                             "object",
		"metadata labels *":                           "string",
		"status":                                      "object",
		"status phase":                                "string",
		"status podIP":                                "IP",
		"status containerStatuses":                    "list",
		"status containerStatuses *":                  "object, not null",
		"status containerStatuses * name":             "string",
		"status containerStatuses * imageID":          "string",
		"status containerStatuses * containerID":      "string",
		"status containerStatuses * state":            "object",
		"status containerStatuses * state running":    "object",
		"status containerStatuses * state terminated": "object",
	}[text]
}

func checkMalformed(t *testing.T, where string, path []any, value any, pod *core.Pod) {
	t.Helper()
	want := typeOf(path)
	fits := want == "" || value == nil && !strings.Contains(want, "not null")
	switch v := value.(type) {
	case string:
		fits = fits || want == "string" || want == "IP" && v == ""
	case map[string]any:
		fits = fits || strings.HasPrefix(want, "object")
	case []any:
		fits = fits || want == "list" && len(v) == 0
	}
	if fits != (pod.Malformed == "") {
		t.Errorf("%s: has to be %q; malformed %q", where, want, pod.Malformed)
	}
	want = fmt.Sprint(unreadable(path))
	if fits {
		want = "0"
	}
	if got := fmt.Sprint(pod.Unreadable); got != want {
		t.Errorf("%s: facts %s are unreadable instead of %s", where, got, want)
	}
	if !fits && (strings.Contains(pod.Malformed, "\n") || len(pod.Malformed) > 200) {
		t.Errorf("%s: the text is no short line: %q", where, pod.Malformed)
	}
}

// paths gives every path of an object, the root excepted.
func paths(root any) func(yield func([]any) bool) {
	var walk func(prefix []any, value any, yield func([]any) bool) bool
	walk = func(prefix []any, value any, yield func([]any) bool) bool {
		if len(prefix) > 0 && !yield(slices.Clone(prefix)) {
			return false
		}
		switch v := value.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				if !walk(append(prefix, name), v[name], yield) {
					return false
				}
			}
		case []any:
			for i, item := range v {
				if !walk(append(prefix, i), item, yield) {
					return false
				}
			}
		}
		return true
	}
	return func(yield func([]any) bool) { walk(nil, root, yield) }
}

// set returns a change of an object: the value at a path of names and list positions.
func set(value any, path ...any) func(*testing.T, *unstructured.Unstructured) {
	return func(t *testing.T, object *unstructured.Unstructured) {
		t.Helper()
		var at any = object.Object
		for _, step := range path[:len(path)-1] {
			switch step := step.(type) {
			case string:
				at = at.(map[string]any)[step]
			case int:
				at = at.([]any)[step]
			}
		}
		switch last := path[len(path)-1].(type) {
		case string:
			at.(map[string]any)[last] = value
		case int:
			at.([]any)[last] = value
		}
	}
}

func all(
	changes ...func(*testing.T, *unstructured.Unstructured),
) func(*testing.T, *unstructured.Unstructured) {
	return func(t *testing.T, object *unstructured.Unstructured) {
		t.Helper()
		for _, change := range changes {
			change(t, object)
		}
	}
}

func decode(text []byte, into *map[string]any) error { return json.Unmarshal(text, into) }
