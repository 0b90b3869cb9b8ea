package inputlog

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

var someTime = time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC)

func podOf(i int, uid string) *core.Pod {
	return &core.Pod{
		Key: core.PodKey{Namespace: "lb", Name: fmt.Sprintf("hap-%06d", i)},
		UID: uid,
		Labels: map[string]string{
			"app.kubernetes.io/component": "loadbalancer", "n": fmt.Sprint(i % 7),
		},
		IP:    netip.AddrFrom4([4]byte{10, 1, byte(i >> 8), byte(i)}),
		Phase: core.PhaseRunning, Agent: core.AgentRunning,
		RuntimeID: core.RuntimeID(fmt.Sprintf("%064x", i)),
	}
}

func podsOf(n int) []*core.Pod {
	pods := make([]*core.Pod, n)
	for i := range pods {
		pods[i] = podOf(i, fmt.Sprintf("3f0e9d4c-0000-4000-8000-%012d", i))
	}
	return pods
}

// recorded writes a log of one run and gives its bytes.
func recorded(t testing.TB, inputs ...core.Input) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log")
	appendRun(t, path, inputs...)
	return contents(t, path)
}

func appendRun(t testing.TB, path string, inputs ...core.Input) {
	t.Helper()
	w := open(t, path, nil)
	for i, input := range inputs {
		w.Append(someTime.Add(time.Duration(i)*time.Second), input)
		w.Effects(nil, core.State{})
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func contents(t testing.TB, path string) []byte {
	t.Helper()
	log, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

// reduced is a step with the digest of what it led to.
type reduced struct {
	Step
	Digest string
}

func reducedOf(entries []Entry) (steps []reduced) {
	for _, entry := range entries {
		switch entry := entry.(type) {
		case Step:
			steps = append(steps, reduced{Step: entry})
		case Reduced:
			steps[len(steps)-1].Digest = entry.Digest
		}
	}
	return steps
}

func stepsOf(t testing.TB, log []byte) []reduced {
	t.Helper()
	entries, err := readAll(t, log)
	if err != nil {
		t.Fatal(err)
	}
	return reducedOf(entries)
}

// R28: an hour of drift ticks, each with its own copy of unchanged facts, stays under 100 KB.
func TestQuietHourIsSmall(t *testing.T) {
	inputs := []core.Input{core.PodStoreSet{Pods: podsOf(1000), Synced: core.SyncDone}}
	first := len(recorded(t, inputs...))
	for range 60 {
		inputs = append(inputs, core.DriftPreventionTriggered{Pods: podsOf(1000)})
	}
	log := recorded(t, inputs...)
	if hour := len(log) - first; hour > 100_000 {
		t.Errorf("a quiet hour takes %d bytes", hour)
	} else {
		t.Logf("the first list takes %d bytes, a quiet hour %d", first, hour)
	}
	steps := stepsOf(t, log)
	before := steps[0].Input.(core.PodStoreSet).Pods
	for _, step := range steps[1:] {
		pods := step.Input.(core.DriftPreventionTriggered).Pods
		if len(pods) != 1000 || &pods[0] != &before[0] {
			t.Fatalf("step %d does not share the unchanged list", step.Seq)
		}
	}
}

// What changes between two reads is told, the rest is shared; index updates count as told.
func TestLevelReadTellsTheDifference(t *testing.T) {
	pods := podsOf(100)
	replaced, added := podOf(50, "u2"), podOf(200, "u3")
	later := append(append(append([]*core.Pod{}, pods[1:50]...), replaced), pods[51:]...)
	later = append(later, added)
	log := recorded(t,
		core.PodStoreSet{Pods: pods, Synced: core.SyncDone},
		core.ResourceIndexUpdated{
			Resource: core.HAProxyPods, Upserted: []*core.Pod{added},
			Deleted: []core.PodRef{
				{Key: pods[0].Key, UID: pods[0].UID}, {Key: pods[1].Key, UID: "a predecessor"},
			},
		},
		core.DriftPreventionTriggered{Pods: later},
		core.ResourceSyncComplete{Resource: core.HAProxyPods, Pods: later[:90]},
		core.DriftPreventionTriggered{},
	)
	var e encoder
	e.known.replace(pods)
	e.known.learn(core.ResourceIndexUpdated{
		Upserted: []*core.Pod{added}, Deleted: []core.PodRef{{Key: pods[0].Key, UID: pods[0].UID}},
	})
	changed, gone := e.known.difference(later, nil, nil)
	if len(changed) != 1 || changed[0] != replaced || len(gone) != 0 {
		t.Errorf("the difference is %v and %v", changed, gone)
	}
	if pods[0].Key != podOf(0, "").Key || len(pods) != 100 {
		t.Error("learning has changed a list that was handed in")
	}

	steps := stepsOf(t, log)
	first := steps[0].Input.(core.PodStoreSet).Pods
	tick := steps[2].Input.(core.DriftPreventionTriggered).Pods
	if len(first) != 100 || len(tick) != 100 {
		t.Fatalf("%d and %d pods are read back", len(first), len(tick))
	}
	for i, pod := range tick {
		if !pod.Equal(later[i]) {
			t.Errorf("pod %d is read as %+v", i, pod)
		}
		if i < 49 && pod != first[i+1] {
			t.Errorf("pod %d is not shared with the list before", i)
		}
	}
	if synced := steps[3].Input.(core.ResourceSyncComplete).Pods; len(synced) != 90 {
		t.Errorf("%d pods are read back after 10 have gone", len(synced))
	}
	if last := steps[4].Input.(core.DriftPreventionTriggered).Pods; len(last) != 0 {
		t.Errorf("%d pods are read back from an empty store", len(last))
	}
}

// Unchanged pods allocate nothing in the encoder, whether they are the same or only equal.
func TestUnchangedPodsAllocateNothing(t *testing.T) {
	lists := [][]*core.Pod{podsOf(1000), podsOf(1000)}
	var e encoder
	e.driftTriggered(core.DriftPreventionTriggered{Pods: lists[0]})
	turn := 0
	allocations := testing.AllocsPerRun(20, func() {
		turn++
		e.json.Reset()
		e.driftTriggered(core.DriftPreventionTriggered{Pods: lists[turn/2%2]})
	})
	if allocations > 0 {
		t.Errorf("an unchanged list of 1,000 pods costs %.0f allocations", allocations)
	}
}

func TestLevelReadThatContradictsTheLogIsRefused(t *testing.T) {
	var k knowledge
	pods := podsOf(3)
	k.replace(pods)
	if _, err := k.apply([]*core.Pod{pods[1], pods[0]}, nil); err == nil {
		t.Error("changed pods out of order are taken")
	}
	if _, err := k.apply(nil, []core.PodKey{podOf(7, "").Key}); err == nil {
		t.Error("a pod is gone that was never there")
	}
	if _, err := k.apply([]*core.Pod{nil}, nil); err == nil {
		t.Error("a changed pod is null")
	}
}
