package core_test

import (
	"fmt"
	"net/netip"
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// otherFacts has for each field of a pod another value; a field that is not in it fails the test.
var otherFacts = map[string]any{
	"Key": core.PodKey{Namespace: "lb", Name: "other"}, "UID": "other",
	"Labels": map[string]string{"other": ""}, "IP": netip.MustParseAddr("10.1.0.99"),
	"Phase": "other", "Terminating": true, "Agent": core.AgentWaiting, "NoAgent": "other",
	"RuntimeID": core.RuntimeID("other"), "Malformed": "other", "Unreadable": core.FactIP,
}

// Every fact counts: a pod in which any one of them differs is another one.
func TestEveryFactCountsInEquality(t *testing.T) {
	fields := reflect.TypeFor[core.Pod]()
	for i := range fields.NumField() {
		name := fields.Field(i).Name
		value, known := otherFacts[name]
		if !known {
			t.Fatalf("no other value is known for %s", name)
		}
		pod, other := core.Pod{}, core.Pod{}
		reflect.ValueOf(&other).Elem().Field(i).Set(reflect.ValueOf(value))
		if pod.Equal(&other) || other.Equal(&pod) || !other.Equal(&other) {
			t.Errorf("%s does not count", name)
		}
	}
}

// R2: whoever looks for the reason learns which container was looked for, and which there are. Their
// order, which the kubelet changes, is none of it.
func TestRunningPodWithoutAnAgentNamesItsContainers(t *testing.T) {
	for _, test := range []struct {
		phase      string
		containers []string
		want       string
	}{
		{"Running", []string{"haproxy", "exporter"}, `no container is named "agent"; there: "exporter", "haproxy"`},
		{"Running", []string{"exporter", "haproxy"}, `no container is named "agent"; there: "exporter", "haproxy"`},
		{"Running", nil, `no container is named "agent"; there: none`},
		{"Running", []string{"haproxy", "agent"}, ""},
		{"Pending", []string{"haproxy"}, ""},
		{"Running", []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"},
			`no container is named "agent"; there: "a", "b", "c", "d", "e", "f", "g", "h", "i", "j" and 2 more`},
	} {
		var statuses []any
		for _, name := range test.containers {
			statuses = append(statuses, map[string]any{"name": name})
		}
		pod := read(t, &unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"namespace": "lb", "name": "hap-0", "uid": "u0"},
			"status":   map[string]any{"phase": test.phase, "containerStatuses": statuses},
		}})
		if pod.NoAgent != test.want {
			t.Errorf("%s: %q instead of %q", fmt.Sprint(test.phase, test.containers), pod.NoAgent, test.want)
		}
	}
}
