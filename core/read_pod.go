package core

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ErrNotAPod is wrapped where an object has no name, no UID or too long a name: there is nothing to follow (R3).
var ErrNotAPod = errors.New("not a pod")

// ReadPod reads the facts of one pod. It is total: whatever the object holds, the result is the
// pod's facts, a malformed pod that says which fact could not be read, or ErrNotAPod. The object
// is only read. agentContainer is Config.AgentContainer.
func ReadPod(object *unstructured.Unstructured, agentContainer string) (*Pod, error) {
	if object == nil || object.Object == nil {
		return nil, fmt.Errorf("%w: no object", ErrNotAPod)
	}
	r := podReader{agentContainer: agentContainer}
	metadata := r.object(object.Object, "", "metadata")
	r.pod.Key = PodKey{
		Namespace: r.text(metadata, "metadata.", "namespace"),
		Name:      r.text(metadata, "metadata.", "name"),
	}
	r.pod.UID = r.text(metadata, "metadata.", "uid")
	switch {
	case r.pod.Key.Name == "":
		return nil, fmt.Errorf("%w: no metadata.name", ErrNotAPod)
	case r.pod.Key.tooLong() != "":
		return nil, fmt.Errorf("%w: %.100q has %s", ErrNotAPod, r.pod.Key, r.pod.Key.tooLong())
	case strings.Contains(r.pod.Key.Namespace+r.pod.Key.Name, "/"):
		return nil, fmt.Errorf("%w: %.100q holds a slash", ErrNotAPod, r.pod.Key)
	case r.pod.UID == "":
		return nil, fmt.Errorf("%w: %q has no metadata.uid", ErrNotAPod, r.pod.Key)
	}
	r.pod.Terminating = metadata["deletionTimestamp"] != nil
	r.readLabels(metadata)
	r.readStatus(object.Object)
	if r.pod.Malformed != "" {
		r.pod.Agent, r.pod.NoAgent, r.pod.RuntimeID = AgentMissing, "", ""
	}
	return &r.pod, nil
}

type podReader struct {
	agentContainer string
	pod            Pod
}

// malformed keeps the first text, so that the same object always gives the same one.
func (r *podReader) malformed(format string, args ...any) {
	if r.pod.Malformed == "" {
		r.pod.Malformed = fmt.Sprintf(format, args...)
	}
}

func (r *podReader) wrongType(path string, want string, got any) {
	r.malformed("%s is %s instead of %s", path, jsonType(got), want)
}

func (r *podReader) readLabels(metadata map[string]any) {
	labels := r.object(metadata, "metadata.", "labels")
	readable := labels != nil || metadata["labels"] == nil
	texts := make(map[string]string, len(labels))
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		text, isText := labels[name].(string)
		if !isText && labels[name] != nil {
			r.wrongType(fmt.Sprintf("metadata.labels[%.64q]", name), "a string", labels[name])
			readable = false
		}
		texts[name] = text
	}
	switch {
	case !readable:
		r.pod.Unreadable |= FactLabels
	case len(texts) > 0:
		r.pod.Labels = texts
	}
}

func (r *podReader) readStatus(object map[string]any) {
	status, isObject := object["status"].(map[string]any)
	if !isObject && object["status"] != nil {
		r.wrongType("status", "an object", object["status"])
		r.pod.Unreadable |= FactPhase | FactIP
		return
	}
	if phase, isText := status["phase"].(string); isText || status["phase"] == nil {
		r.pod.Phase = phase
	} else {
		r.wrongType("status.phase", "a string", status["phase"])
		r.pod.Unreadable |= FactPhase
	}
	r.readIP(status["podIP"])
	r.readContainers(status)
}

func (r *podReader) readIP(value any) {
	text, isText := value.(string)
	if value == nil || isText && text == "" {
		return
	}
	r.pod.Unreadable |= FactIP
	if !isText {
		r.wrongType("status.podIP", "a string", value)
		return
	}
	ip, err := netip.ParseAddr(text)
	switch {
	case err != nil:
		r.malformed("status.podIP %.64q is no IP address", text)
	case ip.Zone() != "":
		r.malformed("status.podIP %.64q has a zone", text)
	case ip.IsUnspecified():
		r.malformed("status.podIP %.64q is no address of a pod", text)
	default:
		r.pod.IP = ip
		r.pod.Unreadable &^= FactIP
	}
}

// readContainers finds the agent and computes the runtime ID. Ephemeral containers are not looked at.
func (r *podReader) readContainers(status map[string]any) {
	containers := r.containers(status, "containerStatuses")
	inits := r.containers(status, "initContainerStatuses")
	epoch, agent := epochContainers(r.agentContainer, containers, inits)
	r.pod.Agent, r.pod.RuntimeID = agent, runtimeID(epoch)
	if agent == AgentMissing && r.pod.Phase == PhaseRunning {
		r.pod.NoAgent = noAgent(r.agentContainer, slices.Concat(containers, inits))
	}
}

func (r *podReader) containers(status map[string]any, field string) []container {
	list, isList := status[field].([]any)
	if !isList && status[field] != nil {
		r.wrongType("status."+field, "a list", status[field])
	}
	containers := make([]container, 0, len(list))
	for i, item := range list {
		path := fmt.Sprintf("status.%s[%d]", field, i)
		entry, isObject := item.(map[string]any)
		if !isObject {
			r.wrongType(path, "an object", item)
			continue
		}
		containers = append(containers, container{
			name:        r.text(entry, path+".", "name"),
			imageID:     r.text(entry, path+".", "imageID"),
			containerID: r.text(entry, path+".", "containerID"),
			state:       r.containerState(entry["state"], path+".state"),
		})
	}
	return containers
}

// containerState: no state at all means waiting, as Kubernetes defines it.
func (r *podReader) containerState(value any, path string) AgentState {
	state, isObject := value.(map[string]any)
	if !isObject && value != nil {
		r.wrongType(path, "an object", value)
		return AgentWaiting
	}
	for _, name := range []AgentState{AgentRunning, AgentTerminated, AgentWaiting} {
		detail := state[string(name)]
		if detail == nil {
			continue
		}
		if _, isObject := detail.(map[string]any); !isObject {
			r.wrongType(path+"."+string(name), "an object", detail)
		}
		return name
	}
	return AgentWaiting
}

func (r *podReader) object(parent map[string]any, path, field string) map[string]any {
	object, isObject := parent[field].(map[string]any)
	if !isObject && parent[field] != nil {
		r.wrongType(path+field, "an object", parent[field])
	}
	return object
}

func (r *podReader) text(parent map[string]any, path, field string) string {
	text, isText := parent[field].(string)
	if !isText && parent[field] != nil {
		r.wrongType(path+field, "a string", parent[field])
	}
	return text
}

func jsonType(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case string:
		return "a string"
	case bool:
		return "a boolean"
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	default:
		return "a number"
	}
}
