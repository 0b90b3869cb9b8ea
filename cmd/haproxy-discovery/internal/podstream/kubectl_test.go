package podstream

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// kubectlPod is a pod as kubectl prints it: HAProxy and its agent, both running.
func kubectlPod(namespace, name, uid, ip string) map[string]any {
	status := func(container, image string) map[string]any {
		return map[string]any{
			"allocatedResources": map[string]any{"cpu": "100m", "memory": "128Mi"},
			"containerID":        "containerd://" + strings.Repeat(uid+"0"+container[:1], 8),
			"image":              image,
			"imageID":            image + "@sha256:" + strings.Repeat("9f", 32),
			"lastState":          map[string]any{},
			"name":               container,
			"ready":              true,
			"restartCount":       0,
			"started":            true,
			"state": map[string]any{
				"running": map[string]any{"startedAt": "2026-01-05T08:00:02Z"},
			},
		}
	}
	return map[string]any{
		"apiVersion": "v1",
		"kind":       "Pod",
		"metadata": map[string]any{
			"annotations":       map[string]any{"note": "braces } { and \"quotes\"\nare text"},
			"creationTimestamp": "2026-01-05T08:00:00Z",
			"generateName":      "haproxy-7d9c-",
			"labels":            map[string]any{"app.kubernetes.io/component": "loadbalancer"},
			"name":              name,
			"namespace":         namespace,
			"ownerReferences": []any{map[string]any{
				"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "haproxy-7d9c",
				"uid": "rs-1", "controller": true, "blockOwnerDeletion": true,
			}},
			"resourceVersion": "184467",
			"uid":             uid,
		},
		"spec": map[string]any{
			"containers": []any{
				map[string]any{"name": "haproxy", "image": "haproxytech/haproxy-debian:3.4"},
				map[string]any{
					"name": "agent", "image": "example.com/agent:0.3.0",
					"ports": []any{map[string]any{"containerPort": 5555, "protocol": "TCP"}},
					"env":   []any{map[string]any{"name": "TOKEN", "value": planted}},
				},
			},
			"nodeName":                      "worker-1",
			"terminationGracePeriodSeconds": 60,
		},
		"status": map[string]any{
			"conditions": []any{map[string]any{
				"lastProbeTime": nil, "lastTransitionTime": "2026-01-05T08:00:03Z",
				"status": "True", "type": "Ready",
			}},
			"containerStatuses": []any{
				status("agent", "example.com/agent:0.3.0"),
				status("haproxy", "haproxytech/haproxy-debian:3.4"),
			},
			"hostIP": "192.168.0.11",
			"phase":  "Running",
			"podIP":  ip,
			"podIPs": []any{map[string]any{"ip": ip}},
		},
	}
}

// planted stands in each pod, where no problem text may quote it from.
const planted = "hunter2-planted"

func pod(n int) map[string]any {
	return kubectlPod("lb", fmt.Sprintf("hap-%d", n), fmt.Sprintf("u%d", n),
		fmt.Sprintf("10.1.%d.%d", n/250, n%250+1))
}

func list(items ...any) map[string]any {
	return map[string]any{
		"apiVersion": "v1", "kind": "List", "metadata": map[string]any{"resourceVersion": ""},
		"items": items,
	}
}

func event(kind string, object any) map[string]any {
	return map[string]any{"type": kind, "object": object}
}

// bookmark is one as the API sends it; end marks the last of the initial events.
func bookmark(end bool) map[string]any {
	metadata := map[string]any{"creationTimestamp": nil, "resourceVersion": "184500"}
	if end {
		metadata["annotations"] = map[string]any{"k8s.io/initial-events-end": "true"}
	}
	return event("BOOKMARK", map[string]any{
		"apiVersion": "v1", "kind": "Pod", "metadata": metadata,
		"spec": map[string]any{"containers": nil}, "status": map[string]any{},
	})
}

func gone() map[string]any {
	return event("ERROR", map[string]any{
		"apiVersion": "v1", "kind": "Status", "metadata": map[string]any{}, "status": "Failure",
		"code": 410, "reason": "Expired", "message": "too old resource version: 1 (184467)",
	})
}

// indented is how kubectl prints an object.
func indented(object any) []byte { return printed(object, "", "    ") }

// lined is how jq -c prints an object.
func lined(object any) []byte { return append(marshal(object), '\n') }

// flushLeft breaks lines without indenting: braces inside the object begin lines, too.
func flushLeft(object any) []byte {
	return bytes.ReplaceAll(printed(object, "", ""), []byte(": {"), []byte(":\n{"))
}

func printed(object any, prefix, indent string) []byte {
	var out bytes.Buffer
	if err := json.Indent(&out, marshal(object), prefix, indent); err != nil {
		panic(err)
	}
	return append(out.Bytes(), '\n')
}

func marshal(object any) []byte {
	text, err := json.Marshal(object)
	if err != nil {
		panic(err)
	}
	return text
}

// cut is the beginning of a text up to and with the first occurrence of a mark.
func cut(text []byte, mark string) []byte {
	before, _, found := strings.Cut(string(text), mark)
	if !found {
		panic("no such mark: " + mark)
	}
	return []byte(before + mark)
}

func join(parts ...any) []byte {
	var out []byte
	for _, part := range parts {
		out = fmt.Appendf(out, "%s", part)
	}
	return out
}
