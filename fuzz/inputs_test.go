package fuzz

import (
	"maps"
	"slices"

	"pgregory.net/rapid"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/fuzz/oracle"
	"github.com/haproxy-discovery/haproxy-discovery/fuzz/story"
)

// changeWorld lets pods come, change and go, before anybody is told.
func (m *machine) changeWorld(t *rapid.T) {
	key := drawKey(t)
	pod, exists := m.world[key]
	switch {
	case exists && rapid.IntRange(0, 3).Draw(t, "fate") == 0:
		delete(m.world, key)
		return
	case exists:
		pod = drawChanged(t, pod)
	default:
		pod = drawPod(t, key)
	}
	m.world[key] = pod
	m.past = append(m.past, pod)
}

// drawUpserted names pods as the store has them, as it once had them, twice, or as nonsense.
func (m *machine) drawUpserted(t *rapid.T) []*core.Pod {
	var pods []*core.Pod
	for range rapid.IntRange(0, 3).Draw(t, "upserted") {
		switch pod, exists := m.world[drawKey(t)]; rapid.IntRange(0, 9).Draw(t, "source") {
		case 0:
			pods = append(pods, drawOdd(t))
		case 1:
			pods = m.appendStale(t, pods)
		default:
			if exists {
				pods = append(pods, pod)
			}
		}
	}
	return pods
}

func (m *machine) appendStale(t *rapid.T, pods []*core.Pod) []*core.Pod {
	if len(m.past) == 0 {
		return pods
	}
	return append(pods, rapid.SampledFrom(m.past).Draw(t, "stale"))
}

// drawDeleted names pods that are gone, under the UID they had or another.
func (m *machine) drawDeleted(t *rapid.T, state core.State) []core.PodRef {
	var refs []core.PodRef
	for range rapid.IntRange(0, 2).Draw(t, "deleted") {
		ref := core.PodRef{Key: drawKey(t), UID: drawUID(t)}
		if st, found := state.Standing(ref.Key); found && rapid.Bool().Draw(t, "right UID") {
			ref.UID = st.Pod.UID
		}
		refs = append(refs, ref)
	}
	return refs
}

// drawList is a read of the store: as a rule complete and in order, else with gaps, with pods of
// the past, doubled, shuffled, and with nonsense among them.
func (m *machine) drawList(t *rapid.T) []*core.Pod {
	pods := m.listWorld()
	if rapid.IntRange(0, 2).Draw(t, "reliable") > 0 {
		return pods
	}
	pods = slices.DeleteFunc(pods, func(*core.Pod) bool {
		return rapid.IntRange(0, 3).Draw(t, "gap") == 0
	})
	for range rapid.IntRange(0, 2).Draw(t, "strays") {
		if rapid.Bool().Draw(t, "stray is odd") {
			pods = append(pods, drawOdd(t))
		} else {
			pods = m.appendStale(t, pods)
		}
	}
	if len(pods) > 1 {
		pods = rapid.Permutation(pods).Draw(t, "order")
	}
	return pods
}

func (m *machine) listWorld() []*core.Pod {
	return slices.SortedFunc(maps.Values(m.world),
		func(a, b *core.Pod) int { return a.Key.Compare(b.Key) })
}

func (m *machine) drawResource(t *rapid.T) string {
	return rapid.SampledFrom([]string{
		core.HAProxyPods, core.HAProxyPods, core.HAProxyPods, core.HAProxyPods, "services", "\xff",
	}).Draw(t, "resource")
}

var configSelectors = append(slices.Clone(oracle.Selectors), oracle.InvalidSelector)

func drawConfig(t *rapid.T) core.Input {
	return core.ConfigValidated{
		AgentPort:   rapid.SampledFrom([]int{5555, 5555, 5556, 0, 70000}).Draw(t, "port"),
		PodSelector: rapid.SampledFrom(configSelectors).Draw(t, "selector"),
	}
}

func drawCredentials(t *rapid.T) core.Input {
	choices := append(slices.Clone(story.Credentials), core.Credentials{})
	return core.CredentialsUpdated{
		Credentials: rapid.SampledFrom(choices).Draw(t, "credentials"),
	}
}

func (m *machine) drawStore(t *rapid.T) core.Input {
	sync := rapid.SampledFrom([]core.Sync{
		core.SyncDone, core.SyncUnknown, core.SyncPending, 77,
	}).Draw(t, "sync")
	return core.PodStoreSet{Pods: m.drawList(t), Synced: sync}
}

// drawInput is any input at all that makes sense for the state, or not.
func (m *machine) drawInput(t *rapid.T, state core.State) core.Input {
	switch rapid.IntRange(0, 9).Draw(t, "kind") {
	case 0:
		return drawConfig(t)
	case 1:
		return drawCredentials(t)
	case 2:
		return m.drawStore(t)
	case 3:
		return core.ResourceSyncComplete{Resource: m.drawResource(t), Pods: m.drawList(t)}
	case 4:
		return core.DriftPreventionTriggered{Pods: m.drawList(t)}
	case 5:
		return core.BecameLeader{}
	case 6:
		return rapid.SampledFrom([]core.Input{
			nil, &core.BecameLeader{}, (*core.ConfigValidated)(nil), core.ProbeFinished{},
			core.TimerFired{}, core.ProbeFinished{Probe: 1 << 60}, core.TimerFired{Timer: 1 << 60},
		}).Draw(t, "nonsense")
	case 7:
		if probes := state.Probes(); len(probes) > 0 {
			probe := rapid.SampledFrom(probes).Draw(t, "probe")
			return core.ProbeFinished{Probe: probe.Probe, Outcome: drawOutcome(t)}
		}
	case 8:
		if timers := state.Timers(); len(timers) > 0 {
			return core.TimerFired{Timer: rapid.SampledFrom(timers).Draw(t, "timer")}
		}
	}
	return core.ResourceIndexUpdated{
		Resource: m.drawResource(t), Upserted: m.drawUpserted(t), Deleted: m.drawDeleted(t, state),
	}
}
