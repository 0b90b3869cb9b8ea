package podstream

import (
	stdjson "encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/haproxy-discovery/haproxy-discovery/shell/kubernetes"
)

// header is what tells a watch event, a list and a single object apart. The values stay raw, so
// that one that cannot be decoded costs nothing but itself.
type header struct {
	Type       stdjson.RawMessage `json:"type"`
	Object     stdjson.RawMessage `json:"object"`
	APIVersion stdjson.RawMessage `json:"apiVersion"`
	Kind       stdjson.RawMessage `json:"kind"`
	Items      stdjson.RawMessage `json:"items"`
	Metadata   stdjson.RawMessage `json:"metadata"`
}

// continued reports whether the object is a list of which another part follows.
func (h header) continued() bool {
	var metadata struct {
		Continue stdjson.RawMessage `json:"continue"`
	}
	if len(h.Metadata) == 0 || json.Unmarshal(h.Metadata, &metadata) != nil {
		return false
	}
	return !isNull(metadata.Continue) && string(metadata.Continue) != `""`
}

// interpret tells what one whole object of the stream means. It is total.
func interpret(at place, raw []byte) []Item {
	d := document{at: at}
	var h header
	if err := json.Unmarshal(raw, &h); err != nil {
		d.problem("cannot be decoded")
		return d.items
	}
	kind := text(h.Kind)
	switch {
	case isNull(h.Kind) && (h.Type != nil || h.Object != nil):
		d.event(h)
	case kind == "List" || kind == "PodList" || isNull(h.Kind) && !isNull(h.Items):
		d.list(h)
	case kind == "Status":
		d.status("a Status instead of a Pod", raw)
	default:
		if pod := d.pod("", raw, false); pod != nil {
			d.items = append(d.items, PodChanged{Pod: pod})
		}
	}
	return d.items
}

// document collects the items of one object of the stream.
type document struct {
	at    place
	items []Item
}

func (d *document) problem(format string, args ...any) {
	d.items = append(d.items, d.at.problem(format, args...))
}

func (d *document) event(h header) {
	kind := watch.EventType(text(h.Type))
	switch kind {
	case watch.Added, watch.Modified:
		if pod := d.pod(string(kind)+" event: ", h.Object, false); pod != nil {
			d.items = append(d.items, PodChanged{Pod: pod})
		}
	case watch.Deleted:
		if pod := d.pod("DELETED event: ", h.Object, false); pod != nil {
			d.items = append(d.items, PodDeleted{Pod: pod})
		}
	case watch.Bookmark:
		d.bookmark(h.Object)
	case watch.Error:
		d.status("the watch failed", h.Object)
	default:
		d.problem("watch event of an unknown type")
	}
}

// bookmark: one without the annotation tells only how far the watch has come.
func (d *document) bookmark(raw []byte) {
	const prefix = "BOOKMARK event: "
	object := d.object(prefix, raw)
	if object == nil || !d.isPodKind(prefix, object) {
		return
	}
	metadata, _ := object["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	if annotations[metav1.InitialEventsAnnotationKey] == "true" {
		d.items = append(d.items, InitialEventsEnd{})
		return
	}
	notice := d.at.problem(prefix + "no news of a pod")
	notice.Harmless = true
	d.items = append(d.items, notice)
}

// status reports an error of the watch itself, such as 410 Gone.
func (d *document) status(what string, raw []byte) {
	status := d.object(what+": ", raw)
	if status == nil {
		return
	}
	code, _ := status["code"].(int64)
	reason, _ := status["reason"].(string)
	message, _ := status["message"].(string)
	d.problem("%s: code %d, reason %.64q, message %.256q", what, code, reason, message)
}

func (d *document) list(h header) {
	if version := text(h.APIVersion); !isNull(h.APIVersion) && version != "v1" {
		d.problem("list of another apiVersion than v1")
		return
	}
	var items []stdjson.RawMessage
	switch {
	case h.Items == nil:
		d.problem("list without items")
		return
	case json.Unmarshal(h.Items, &items) != nil:
		d.problem("items is %s instead of a list", jsonType(h.Items))
		return
	}
	pods := make([]*unstructured.Unstructured, 0, len(items))
	for i, item := range items {
		if pod := d.pod(fmt.Sprintf("item %d of the list: ", i+1), item, true); pod != nil {
			pods = append(pods, pod)
		}
	}
	d.items = append(d.items, ListItem{
		Pods: pods, Continued: h.continued(), Lossy: len(pods) < len(items),
	})
}

// maxName bounds namespace and name of a pod, in bytes, as rule R3 does.
const maxName = 253

// pod reads a pod that discovery can follow: one with a name and a UID, trimmed to its facts. Otherwise it reports a
// problem and returns nil. The API leaves the kind out in the items of its lists.
func (d *document) pod(prefix string, raw []byte, isListItem bool) *unstructured.Unstructured {
	object := d.object(prefix, raw)
	if object == nil {
		return nil
	}
	if isListItem && object["kind"] == nil {
		object["kind"] = "Pod"
	}
	if object["apiVersion"] == nil {
		object["apiVersion"] = "v1"
	}
	if !d.isPodKind(prefix, object) {
		return nil
	}
	metadata, isObject := object["metadata"].(map[string]any)
	namespace, _ := metadata["namespace"].(string)
	name, _ := metadata["name"].(string)
	uid, _ := metadata["uid"].(string)
	switch {
	case !isObject:
		d.problem("%sPod whose metadata is no object", prefix)
	case name == "":
		d.problem("%sPod without a name", prefix)
	case len(namespace) > maxName || len(name) > maxName:
		d.problem("%sPod %.40q in namespace %.40q: name or namespace has more than %d bytes",
			prefix, name, namespace, maxName)
	case uid == "":
		d.problem("%sPod %.253q has no UID", prefix, name)
	default:
		return kubernetes.TrimPod(&unstructured.Unstructured{Object: object})
	}
	return nil
}

func (d *document) isPodKind(prefix string, object map[string]any) bool {
	kind, isText := object["kind"].(string)
	version := object["apiVersion"]
	switch {
	case !isText || kind == "":
		d.problem("%sobject without a kind", prefix)
	case kind != "Pod" || version != nil && version != "v1":
		metadata, _ := object["metadata"].(map[string]any)
		name, _ := metadata["name"].(string)
		d.problem("%skind %.64q, name %.253q is no v1 Pod", prefix, kind, name)
	default:
		return true
	}
	return false
}

// object decodes as Kubernetes does: whole numbers to int64, others to float64.
func (d *document) object(prefix string, raw []byte) map[string]any {
	var object map[string]any
	switch {
	case len(raw) == 0:
		d.problem("%sno object", prefix)
	case raw[0] != '{':
		d.problem("%s%s instead of an object", prefix, jsonType(raw))
	case json.Unmarshal(raw, &object) != nil:
		// The syntax was checked before: what is left are numbers out of range.
		d.problem("%sobject with a number out of range", prefix)
	default:
		return object
	}
	return nil
}

func isNull(raw []byte) bool { return len(raw) == 0 || raw[0] == 'n' }

// text is empty for what is no string.
func text(raw []byte) string {
	var text string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &text) != nil {
		return ""
	}
	return text
}

func jsonType(raw []byte) string {
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}
