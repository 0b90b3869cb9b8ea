package kubernetes

import (
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// trimPod is a cache.TransformFunc. It keeps of a pod what core.ReadPod reads, beside the resource
// version, which the watch goes on from: a cached pod takes a tenth of the memory, and a heartbeat
// leaves an equal pod. Whatever has a wrong type is kept as it is, so that the pod stays as malformed
// as it was. Anything but a pod's fields, a tombstone for instance, is handed back untouched.
//
// The object itself stays as it is, and trimming the result again changes nothing: an informer may
// transform an object twice.
func trimPod(object any) (any, error) {
	pod, isFields := object.(*unstructured.Unstructured)
	if !isFields || pod == nil {
		return object, nil
	}
	return TrimPod(pod), nil
}

// TrimPod keeps of a pod what core.ReadPod reads, for pods that come another way than by an informer.
func TrimPod(pod *unstructured.Unstructured) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: trimFields(pod.Object)}
}

func trimFields(fields map[string]any) map[string]any {
	trimmed := pick(fields, "apiVersion", "kind", "metadata", "status")
	if metadata, isObject := trimmed["metadata"].(map[string]any); isObject {
		trimmed["metadata"] = pick(metadata,
			"namespace", "name", "uid", "labels", "deletionTimestamp", "resourceVersion")
	}
	if status, isObject := trimmed["status"].(map[string]any); isObject {
		trimmed["status"] = trimStatus(status)
	}
	return trimmed
}

func trimStatus(status map[string]any) map[string]any {
	trimmed := pick(status, "phase", "podIP", "containerStatuses", "initContainerStatuses")
	for _, field := range []string{"containerStatuses", "initContainerStatuses"} {
		list, isList := trimmed[field].([]any)
		if !isList {
			continue
		}
		containers := make([]any, len(list))
		for i, item := range list {
			containers[i] = item
			if container, isObject := item.(map[string]any); isObject {
				containers[i] = trimContainer(container)
			}
		}
		trimmed[field] = containers
	}
	return trimmed
}

// trimContainer keeps which state a container is in, not since when or why; and of image ID and
// container ID the one that counts, since a runtime that restarts may spell an image in another way.
func trimContainer(container map[string]any) map[string]any {
	trimmed := pick(container, "name", "imageID", "containerID", "state")
	_, isText := trimmed["imageID"].(string)
	if id, hasID := trimmed["containerID"].(string); isText && hasID && id != "" {
		delete(trimmed, "imageID")
	}
	state, isObject := trimmed["state"].(map[string]any)
	if !isObject {
		return trimmed
	}
	state = pick(state, "running", "terminated", "waiting")
	for name, detail := range state {
		if _, isObject := detail.(map[string]any); isObject {
			state[name] = map[string]any{}
		}
	}
	trimmed["state"] = state
	return trimmed
}

// pick copies the fields that are there.
func pick(fields map[string]any, names ...string) map[string]any {
	picked := make(map[string]any, len(names))
	for _, name := range names {
		if value := fields[name]; value != nil {
			picked[name] = value
		}
	}
	return picked
}

// sameFacts tells whether two pods differ in nothing that core.ReadPod reads.
func sameFacts(old, updated *unstructured.Unstructured) bool {
	was, is := trimFields(old.Object), trimFields(updated.Object)
	for _, fields := range []map[string]any{was, is} {
		if metadata, isObject := fields["metadata"].(map[string]any); isObject {
			delete(metadata, "resourceVersion")
		}
	}
	return reflect.DeepEqual(was, is)
}
