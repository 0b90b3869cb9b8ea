package core_test

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// sizes of names, in bytes: around the bound, and around what the map of pods could hold.
var sizes = []int{253, 254, 65_532, 65_533, 65_534, 65_535, 65_536, 1 << 20}

func sized(size int) []core.PodKey {
	long := strings.Repeat("x", size)
	return []core.PodKey{{Namespace: "lb", Name: long}, {Namespace: long, Name: "b"}}
}

// R3: a namespace or name of more than 253 bytes makes no pod, whatever input it comes with, and
// costs no other pod anything.
func TestR3TooLongANameIsRefused(t *testing.T) {
	for _, size := range sizes {
		for _, key := range sized(size) {
			small := &core.Pod{Key: core.PodKey{Namespace: "lb", Name: "a"}, UID: "u"}
			pods := []*core.Pod{small, {Key: key, UID: "u"}}
			for _, input := range []core.Input{
				core.PodStoreSet{Pods: pods, Synced: core.SyncDone},
				core.ResourceSyncComplete{Resource: core.HAProxyPods, Pods: pods},
				core.DriftPreventionTriggered{Pods: pods},
				core.ResourceIndexUpdated{Resource: core.HAProxyPods, Upserted: pods},
			} {
				state, effects := core.Reduce(core.New(core.Config{}), input)
				checkSized(t, state, effects, size, key)
				gone := core.ResourceIndexUpdated{
					Resource: core.HAProxyPods, Deleted: []core.PodRef{{Key: key, UID: "u"}},
				}
				state, _ = core.Reduce(state, gone)
				if _, found := state.Standing(small.Key); !found || state.Len() != 1 {
					t.Errorf("%d bytes: %d pods after a deletion", size, state.Len())
				}
			}
		}
	}
}

func checkSized(t *testing.T, state core.State, effects []core.Effect, size int, key core.PodKey) {
	t.Helper()
	want, pods := "[]", 2
	if size > 253 {
		part := "name"
		if key.Name == "b" {
			part = "namespace"
		}
		want, pods = fmt.Sprintf("[{a pod with a %s of %d bytes}]", part, size), 1
	}
	if got := fmt.Sprint(effects); got != want {
		t.Errorf("%d bytes: %.200s instead of %s", size, got, want)
	}
	if _, found := state.Standing(key); found != (size <= 253) || state.Len() != pods {
		t.Errorf("%d bytes: found=%v among %d pods", size, found, state.Len())
	}
}

// R3: the reader of objects says in one short line what is no pod for its size.
func TestR3ReadPodRefusesTooLongAName(t *testing.T) {
	for _, size := range sizes {
		for _, key := range sized(size) {
			object := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{
				"namespace": key.Namespace, "name": key.Name, "uid": "u",
			}}}
			pod, err := core.ReadPod(object, "agent")
			switch {
			case size <= 253:
				if err != nil || pod.Key != key {
					t.Errorf("%d bytes: %v", size, err)
				}
			case !errors.Is(err, core.ErrNotAPod) || pod != nil || len(err.Error()) > 200 ||
				!strings.Contains(err.Error(), fmt.Sprint(size)):
				t.Errorf("%d bytes: %v, %.300v", size, pod, err)
			}
		}
	}
}

// The stateless question leaves out what is no pod, too.
func TestR3CandidatesLeaveOutTooLongANames(t *testing.T) {
	discovery := core.Discovery{AgentPort: 5555}
	for _, key := range sized(65_534) {
		pod := &core.Pod{Key: key, UID: "u", Phase: core.PhaseRunning, Agent: core.AgentRunning,
			IP: netip.MustParseAddr("10.1.0.10")}
		candidates, err := discovery.Candidates([]*core.Pod{pod}, core.Credentials{})
		if err != nil || len(candidates) > 0 {
			t.Errorf("%d candidates, %v", len(candidates), err)
		}
	}
}
