package demo

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

const (
	namespace      = "lb"
	labelName      = "app.kubernetes.io/component"
	labelValue     = "loadbalancer"
	haproxyImage   = "haproxy"
	agentImage     = "haproxy-agent:0.3.0"
	killedBySignal = int64(137)
)

// pod is one incarnation of a pod: what the script does to it, and what the API server would say.
type pod struct {
	name    string
	uid     string
	ip      string
	version string // of its HAProxy
	// hung is set for an agent that never answers, from the start to the end.
	hung  bool
	agent *agent

	// agentRestarts counts the containers that its agent has had before.
	agentRestarts int
	agentCrashed  bool
	terminating   bool
	lastHeartbeat time.Time
}

func (p *pod) key() core.PodKey { return core.PodKey{Namespace: namespace, Name: p.name} }

func (p *pod) String() string { return p.key().String() }

// object makes the pod as kubectl shows it, anew with each call.
func (p *pod) object(resourceVersion int) *unstructured.Unstructured {
	metadata := map[string]any{
		"namespace":       namespace,
		"name":            p.name,
		"uid":             p.uid,
		"resourceVersion": strconv.Itoa(resourceVersion),
		"labels":          map[string]any{labelName: labelValue},
	}
	if p.terminating {
		metadata["deletionTimestamp"] = now()
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1",
		"kind":       "Pod",
		"metadata":   metadata,
		"spec": map[string]any{"containers": []any{
			map[string]any{"name": "haproxy", "image": haproxyImage + ":" + p.version},
			map[string]any{"name": "agent", "image": agentImage},
		}},
		"status": map[string]any{
			"phase":  core.PhaseRunning,
			"podIP":  p.ip,
			"podIPs": []any{map[string]any{"ip": p.ip}},
			"conditions": []any{map[string]any{
				"type": "Ready", "status": "True",
				"lastProbeTime": p.lastHeartbeat.UTC().Format(time.RFC3339),
			}},
			"containerStatuses": []any{
				p.containerStatus("haproxy", haproxyImage+":"+p.version, 0, running()),
				p.containerStatus("agent", agentImage, p.agentRestarts, p.agentContainer()),
			},
		},
	}}
}

func (p *pod) containerStatus(name, image string, restarts int, state any) map[string]any {
	return map[string]any{
		"name":         name,
		"image":        image,
		"imageID":      "sha256:" + digest(image),
		"containerID":  "containerd://" + digest(p.uid, name, strconv.Itoa(restarts)),
		"restartCount": int64(restarts),
		"ready":        true,
		"state":        state,
	}
}

// restartAgentContainer is what the kubelet reports: a new container, running.
func (p *pod) restartAgentContainer() {
	p.agentCrashed = false
	p.agentRestarts++
}

func (p *pod) agentContainer() map[string]any {
	if p.agentCrashed {
		return map[string]any{"terminated": map[string]any{
			"exitCode": killedBySignal, "reason": "Error", "finishedAt": now(),
		}}
	}
	return running()
}

func running() map[string]any {
	return map[string]any{"running": map[string]any{"startedAt": now()}}
}

func now() string { return time.Now().UTC().Format(time.RFC3339) }

func digest(texts ...string) string { return fmt.Sprintf("%x", sha256.Sum256(fmt.Append(nil, texts))) }
