package kubernetes

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// anyValue draws JSON of every type, at most two deep.
func anyValue() *rapid.Generator[any] {
	flat := rapid.OneOf(
		rapid.Just[any](nil), rapid.Just[any](true), rapid.Just[any](int64(7)), rapid.Just[any](1.5),
		rapid.Just[any](""), rapid.Just[any]("x"), rapid.Just[any]([]any{}),
		rapid.Just[any](map[string]any{}))
	return rapid.OneOf(flat,
		rapid.Map(rapid.SliceOfN(flat, 1, 2), func(list []any) any { return list }),
		rapid.Map(rapid.MapOfN(rapid.SampledFrom([]string{"name", "running", "x"}), flat, 1, 2),
			func(object map[string]any) any { return object }))
}

// mostly draws from the generator, and now and then something of any type.
func mostly[T any](of *rapid.Generator[T]) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		if rapid.IntRange(0, 39).Draw(t, "odd") == 39 {
			return anyValue().Draw(t, "value")
		}
		return of.Draw(t, "value")
	})
}

// object draws an object with some of the fields.
func object(fields map[string]*rapid.Generator[any]) *rapid.Generator[map[string]any] {
	return rapid.Custom(func(t *rapid.T) map[string]any {
		drawn := map[string]any{}
		for name, field := range fields {
			if rapid.IntRange(0, 9).Draw(t, "has "+name) < 9 {
				drawn[name] = field.Draw(t, name)
			}
		}
		return drawn
	})
}

func text(texts ...string) *rapid.Generator[any] { return mostly(rapid.SampledFrom(texts)) }

func anyPod() *rapid.Generator[map[string]any] {
	detail := mostly(object(map[string]*rapid.Generator[any]{
		"startedAt": text("2026-01-01T00:00:00Z", "2026-01-01T00:10:00Z"), "exitCode": anyValue(),
	}))
	container := mostly(object(map[string]*rapid.Generator[any]{
		"name": text("agent", "haproxy"), "imageID": text("i1", "i2"), "containerID": text("c1", "c2", ""),
		"ready": anyValue(), "restartCount": anyValue(), "lastState": anyValue(),
		"state": mostly(object(map[string]*rapid.Generator[any]{
			"running": detail, "terminated": detail, "waiting": detail, "x": anyValue(),
		})),
	}))
	containers := mostly(rapid.SliceOfN(container, 0, 3))
	return object(map[string]*rapid.Generator[any]{
		"apiVersion": text("v1"), "kind": text("Pod"), "spec": anyValue(), "x": anyValue(),
		"metadata": mostly(object(map[string]*rapid.Generator[any]{
			"namespace": text("lb", ""), "name": text("hap-0"), "uid": text("u1", "u2"),
			"resourceVersion": text("1", "2"), "annotations": anyValue(), "managedFields": anyValue(),
			"deletionTimestamp": text("2026-01-01T00:00:00Z"),
			"labels": mostly(object(map[string]*rapid.Generator[any]{
				"app": text("haproxy"), "tier": text("front"),
			})),
		})),
		"status": mostly(object(map[string]*rapid.Generator[any]{
			"phase": text("Running", "Pending"), "podIP": text("10.1.0.10", "fd00::a", "fe80::1%eth0"),
			"podIPs": anyValue(), "conditions": anyValue(), "ephemeralContainerStatuses": containers,
			"containerStatuses": containers, "initContainerStatuses": containers,
		})),
	})
}

func facts(fields map[string]any) string {
	pod, err := core.ReadPod(&unstructured.Unstructured{Object: fields}, "agent")
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%+v", *pod)
}

func trimmed(t require, fields map[string]any) map[string]any {
	result, err := trimPod(&unstructured.Unstructured{Object: fields})
	if err != nil {
		t.Fatal(err)
	}
	return result.(*unstructured.Unstructured).Object
}

type require interface {
	Fatal(...any)
	Fatalf(string, ...any)
}

// Whatever an object holds, the same facts are read from it once it is trimmed; and what is
// malformed stays malformed, in the same words.
func TestFactsOutliveTrimming(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fields := anyPod().Draw(t, "pod")
		kept := (&unstructured.Unstructured{Object: fields}).DeepCopy().Object
		once := trimmed(t, fields)
		if diff := cmp.Diff(kept, fields); diff != "" {
			t.Fatalf("trimming has changed the object:\n%s", diff)
		}
		if want, got := facts(fields), facts(once); got != want {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
		if diff := cmp.Diff(once, trimmed(t, once)); diff != "" {
			t.Fatalf("trimming twice is not trimming once:\n%s", diff)
		}
	})
}

// Where one value of a pod becomes another pod's: other facts are never taken for the same, and what
// is not read makes no difference.
func TestSameFactsMeansSameFacts(t *testing.T) {
	unread := map[string]bool{
		"spec": true, "metadata/annotations": true, "metadata/resourceVersion": true,
		"status/conditions": true, "status/podIPs": true, "status/ephemeralContainerStatuses": true,
	}
	read := []string{
		"metadata/uid", "metadata/labels", "metadata/deletionTimestamp",
		"status/phase", "status/podIP", "status/containerStatuses", "status/initContainerStatuses",
	}
	rapid.Check(t, func(t *rapid.T) {
		was := anyPod().Draw(t, "was")
		is := (&unstructured.Unstructured{Object: was}).DeepCopy().Object
		path := rapid.SampledFrom(append(slices.Sorted(maps.Keys(unread)), read...)).Draw(t, "path")
		parent, field := is, path
		if above, below, nested := strings.Cut(path, "/"); nested {
			var isObject bool
			if parent, isObject = is[above].(map[string]any); !isObject {
				t.Skip("nothing to change")
			}
			field = below
			other, _ := anyPod().Draw(t, "other")[above].(map[string]any)
			parent[field] = other[field]
		} else {
			parent[field] = anyPod().Draw(t, "other")[field]
		}
		same := sameFacts(&unstructured.Unstructured{Object: was}, &unstructured.Unstructured{Object: is})
		if same && facts(was) != facts(is) || unread[path] && !same {
			t.Fatalf("%s, same facts %t:\n%s\n%s", path, same, facts(was), facts(is))
		}
	})
}

// A pod as kubectl shows it: what is kept of it, and what counts as a change.
func TestTrimmedPod(t *testing.T) {
	fields := fixture(t, "running.json")
	short := trimmed(t, fields)
	before, _ := json.Marshal(fields)
	after, _ := json.Marshal(short)
	if len(after) > len(before)/2 {
		t.Errorf("%d of %d bytes are left: %s", len(after), len(before), after)
	}
	if version := (&unstructured.Unstructured{Object: short}).GetResourceVersion(); version != "123456" {
		t.Errorf("the watch cannot go on from resource version %q", version)
	}
	status := func(pod map[string]any) map[string]any { return pod["status"].(map[string]any) }
	agent := func(pod map[string]any) map[string]any {
		return status(pod)["containerStatuses"].([]any)[1].(map[string]any)
	}
	for _, test := range []struct {
		name   string
		change func(pod map[string]any)
		same   bool
	}{
		{"nothing", func(map[string]any) {}, true},
		{"heartbeat", func(pod map[string]any) {
			pod["metadata"].(map[string]any)["resourceVersion"] = "123457"
			status(pod)["conditions"] = []any{map[string]any{"type": "Ready", "status": "True"}}
		}, true},
		{"ready", func(pod map[string]any) { agent(pod)["ready"] = false }, true},
		{"restart count", func(pod map[string]any) { agent(pod)["restartCount"] = int64(9) }, true},
		{"started at", func(pod map[string]any) {
			agent(pod)["state"] = map[string]any{"running": map[string]any{"startedAt": "2026-03-01T11:00:00Z"}}
		}, true},
		{"container ID", func(pod map[string]any) { agent(pod)["containerID"] = "containerd://c2" }, false},
		{"image ID", func(pod map[string]any) { agent(pod)["imageID"] = "docker.io/agent@sha256:cc" }, true},
		{"image ID without container ID", func(pod map[string]any) { delete(agent(pod), "containerID") }, false},
		{"state", func(pod map[string]any) {
			agent(pod)["state"] = map[string]any{"terminated": map[string]any{"exitCode": int64(1)}}
		}, false},
		{"IP", func(pod map[string]any) { status(pod)["podIP"] = "10.1.0.11" }, false},
		{"UID", func(pod map[string]any) { pod["metadata"].(map[string]any)["uid"] = "u2" }, false},
		{"deletion", func(pod map[string]any) {
			pod["metadata"].(map[string]any)["deletionTimestamp"] = "2026-03-01T11:00:00Z"
		}, false},
	} {
		was := &unstructured.Unstructured{Object: fields}
		changed := was.DeepCopy()
		test.change(changed.Object)
		if same := sameFacts(was, changed); same != test.same {
			t.Errorf("%s: same facts: %t", test.name, same)
		}
	}
}

func fixture(t *testing.T, name string) map[string]any {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "core", "testdata", "pods", name))
	if err != nil {
		t.Fatal(err)
	}
	var pod unstructured.Unstructured
	if err := pod.UnmarshalJSON(content); err != nil {
		t.Fatal(err)
	}
	return pod.Object
}
