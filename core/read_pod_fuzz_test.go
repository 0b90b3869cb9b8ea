package core_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kubernetesjson "k8s.io/apimachinery/pkg/util/json"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/fuzz/bounds"
)

// plantedSecret stands wherever no fact is read from.
const plantedSecret = "hunter2-planted"

// FuzzReadPod: whatever JSON object is taken for a pod, reading it ends, costs memory in proportion,
// changes nothing, and gives a pod with a name and a UID, or ErrNotAPod. The facts hold nothing of
// what is no fact, and do not depend on the order of the containers (R3, R26).
func FuzzReadPod(f *testing.F) {
	fixtures, err := filepath.Glob("testdata/pods/*.json")
	if err != nil || len(fixtures) == 0 {
		f.Fatalf("no fixtures: %v", err)
	}
	for _, fixture := range fixtures {
		text, err := os.ReadFile(fixture)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, "agent")
	}
	// Small ones: the fuzzer spends its time on the length of its seeds.
	for _, rest := range []string{
		`"metadata":{"name":"a","uid":"u","labels":{"a":"b","c":null,"":1}}`,
		`"metadata":{"name":"a","uid":"u","labels":{"a\nb":1}}`,
		`"metadata":{"name":"a","uid":"u","labels":{"` + strings.Repeat("long", 300) + `":1}}`,
		`"metadata":{"name":"a/b","uid":"u","deletionTimestamp":0}`,
		`"metadata":[],"status":7`,
		`"metadata":{"name":"a","uid":"u"},"status":{"phase":[],"podIP":"fe80::1%e"}`,
		`"metadata":{"name":"a","uid":"u"},"status":{"phase":"Running","podIP":"0.0.0.0"}`,
		`"metadata":{"name":"a","uid":"u"},"status":{"phase":"Running","podIP":"10.1.0.1",` +
			`"containerStatuses":[{"name":"agent","state":{"running":{}}},{"name":"b"},7],` +
			`"initContainerStatuses":[{"name":"c","imageID":"i","state":{"terminated":""}}]}`,
	} {
		f.Add([]byte("{"+rest+"}"), "agent")
	}
	f.Fuzz(func(t *testing.T, text []byte, agentContainer string) {
		var object map[string]any
		if kubernetesjson.Unmarshal(text, &object) != nil {
			return
		}
		checkReading(t, object, agentContainer, len(text))
	})
}

func checkReading(t *testing.T, object map[string]any, agentContainer string, bytes int) {
	t.Helper()
	kept, _ := json.Marshal(object)
	var pod *core.Pod
	var err error
	bounds.Hold(t, bytes, 200, func() { pod, err = readObject(object, agentContainer) })
	if now, _ := json.Marshal(object); string(now) != string(kept) {
		t.Errorf("ReadPod has changed the object to %s", now)
	}
	if err != nil {
		if pod != nil || !errors.Is(err, core.ErrNotAPod) || !isShortLine(err.Error()) {
			t.Errorf("read as %+v, %q", pod, err)
		}
	} else {
		checkFacts(t, pod)
	}
	reversed := withContainersReversed(object)
	again, againErr := readObject(reversed, agentContainer)
	if fmt.Sprint(err) != fmt.Sprint(againErr) || err == nil && !sameButForOrder(pod, again) &&
		!hasNamesakes(object) {
		t.Errorf("in another order, read as %+v, %v instead of %+v, %v", again, againErr, pod, err)
	}
	plant(object)
	again, againErr = readObject(object, agentContainer)
	if fmt.Sprint(err) != fmt.Sprint(againErr) || err == nil && !again.Equal(pod) {
		t.Errorf("what is no fact makes a difference: %+v, %v instead of %+v, %v",
			again, againErr, pod, err)
	}
	if printed := fmt.Sprintf("%+v %v", again, againErr); strings.Contains(printed, plantedSecret) {
		t.Errorf("a secret has come out: %s", printed)
	}
}

func readObject(object map[string]any, agentContainer string) (*core.Pod, error) {
	return core.ReadPod(&unstructured.Unstructured{Object: object}, agentContainer)
}

// checkFacts holds what is true of every pod that is read.
func checkFacts(t *testing.T, pod *core.Pod) {
	t.Helper()
	switch {
	case pod.Key.Name == "", pod.UID == "", strings.Contains(pod.Key.Namespace+pod.Key.Name, "/"):
		t.Errorf("%+v cannot be named", pod)
	case pod.Malformed == "" && pod.Unreadable != 0:
		t.Errorf("%+v is well-formed and has unreadable facts", pod)
	case pod.Malformed != "" && (pod.Agent != core.AgentMissing ||
		pod.RuntimeID != "" || pod.NoAgent != ""):
		t.Errorf("%+v is malformed and tells of its containers", pod)
	case pod.Malformed == "" && (pod.NoAgent != "") !=
		(pod.Agent == core.AgentMissing && pod.Phase == core.PhaseRunning):
		t.Errorf("%+v says of its agent what is not so", pod)
	case pod.Malformed == "" && len(pod.RuntimeID) != 64:
		t.Errorf("%+v has no runtime ID", pod)
	case pod.IP.IsValid() && (pod.IP.Zone() != "" || pod.IP.IsUnspecified()):
		t.Errorf("%+v has an address that no agent can be reached at", pod)
	case pod.IP.IsValid() && pod.Unreadable.Has(core.FactIP),
		pod.Phase != "" && pod.Unreadable.Has(core.FactPhase),
		pod.Labels != nil && pod.Unreadable.Has(core.FactLabels):
		t.Errorf("%+v has a fact that cannot be read", pod)
	case !isShortLine(pod.Malformed), !isShortLine(pod.NoAgent):
		t.Errorf("%q or %q is no short line", pod.Malformed, pod.NoAgent)
	}
}

func isShortLine(text string) bool {
	return len(text) <= 1000 && !strings.ContainsFunc(text, func(r rune) bool {
		return !unicode.IsPrint(r)
	})
}

// sameButForOrder: which of several facts is named as unreadable may depend on the order.
func sameButForOrder(a, b *core.Pod) bool {
	if a.Malformed != "" && b.Malformed != "" {
		same := *b
		same.Malformed = a.Malformed
		return a.Equal(&same)
	}
	return a.Equal(b)
}

func withContainersReversed(object map[string]any) map[string]any {
	reversed := maps.Clone(object)
	status, _ := object["status"].(map[string]any)
	if status == nil {
		return reversed
	}
	status = maps.Clone(status)
	for _, field := range []string{"containerStatuses", "initContainerStatuses"} {
		if list, isList := status[field].([]any); isList {
			list = slices.Clone(list)
			slices.Reverse(list)
			status[field] = list
		}
	}
	reversed["status"] = status
	return reversed
}

// hasNamesakes: of two containers of one name, which no cluster allows, the first one counts.
func hasNamesakes(object map[string]any) bool {
	status, _ := object["status"].(map[string]any)
	for _, field := range []string{"containerStatuses", "initContainerStatuses"} {
		list, _ := status[field].([]any)
		seen := map[any]bool{}
		for _, item := range list {
			container, _ := item.(map[string]any)
			name, _ := container["name"].(string)
			if seen[name] {
				return true
			}
			seen[name] = true
		}
	}
	return false
}

// plant puts a secret into every place of a pod from which no fact is read: fields of whatever name
// in every object, and those in which secrets are found.
func plant(object map[string]any) {
	secret := func() any {
		return []any{plantedSecret, map[string]any{plantedSecret: plantedSecret}}
	}
	plantEverywhere(object, secret)
	object["spec"] = map[string]any{"containers": []any{
		map[string]any{"name": "agent", "env": []any{
			map[string]any{"name": "PASSWORD", "value": plantedSecret},
		}},
	}}
	if metadata, isObject := object["metadata"].(map[string]any); isObject {
		metadata["annotations"] = map[string]any{"password": plantedSecret, plantedSecret: "x"}
		metadata["managedFields"] = secret()
		metadata["resourceVersion"] = plantedSecret
	}
	if status, isObject := object["status"].(map[string]any); isObject {
		status["conditions"] = secret()
		status["message"] = plantedSecret
	}
}

func plantEverywhere(value any, secret func() any) {
	switch value := value.(type) {
	case map[string]any:
		for name, inner := range value {
			if name != "labels" { // Each of its fields is a fact.
				plantEverywhere(inner, secret)
			}
		}
		value["planted"] = secret()
	case []any:
		for _, inner := range value {
			plantEverywhere(inner, secret)
		}
	}
}
