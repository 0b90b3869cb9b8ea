package oracle

import (
	"slices"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// facts is what the inputs have told, taken at their word.
type facts struct {
	config     core.ConfigValidated
	configured bool
	// selects reads the config's selector.
	selects     func(labels map[string]string) bool
	credentials core.Credentials
	storeSet    bool
	synced      bool
	syncSeen    bool
	gateOpen    bool
	// pods are in the order of their keys; spare is the list of the step before, to be reused.
	pods, spare []*core.Pod
}

// meaning is what an input amounts to, beside the facts that it brings.
type meaning struct {
	trigger core.Trigger
	// fullPass and freshBackoff tell what kind of pass it is (R7), podChange that it is none (R8).
	fullPass     bool
	freshBackoff bool
	podChange    bool
	// deleted are the pods that went, even if they came back in the same input.
	deleted []core.PodKey
	// refusals counts the parts that make no sense.
	refusals int
}

// take notes an input.
func (f *facts) take(input core.Input) meaning {
	var m meaning
	switch in := input.(type) {
	case core.ConfigValidated:
		m.trigger = core.TriggerConfigValidated
		selects, known := selectors[in.PodSelector]
		if in.AgentPort < 1 || in.AgentPort > 65535 || !known {
			m.refusals++
			return m
		}
		f.config, f.configured, f.selects = in, true, selects
		m.fullPass, m.freshBackoff = true, true
	case core.CredentialsUpdated:
		m.trigger = core.TriggerCredentialsUpdated
		if in.Credentials == (core.Credentials{}) {
			m.refusals++
			return m
		}
		f.credentials = in.Credentials
		m.fullPass, m.freshBackoff = true, true
	case core.PodStoreSet:
		m.trigger = core.TriggerPodStoreSet
		vouchedFor := f.syncSeen && !f.storeSet // of the first store only
		f.storeSet = true
		f.synced = in.Synced == core.SyncDone || in.Synced == core.SyncUnknown && vouchedFor
		m.refusals += f.list(in.Pods, f.synced)
		m.fullPass, m.freshBackoff = true, true
	case core.ResourceSyncComplete:
		m.trigger = core.TriggerResourceSyncComplete
		if in.Resource != "haproxy-pods" {
			m.refusals++
			return m
		}
		f.syncSeen = true
		f.synced = f.storeSet
		m.refusals += f.list(in.Pods, true)
		m.fullPass = true
	case core.DriftPreventionTriggered:
		m.trigger = core.TriggerDriftPreventionTriggered
		m.refusals += f.list(in.Pods, f.synced)
		m.fullPass = true
	case core.ResourceIndexUpdated:
		m.trigger = core.TriggerResourceIndexUpdated
		if in.Resource != "haproxy-pods" {
			m.refusals++
			return m
		}
		m.podChange = true
		f.change(in, &m)
	case core.BecameLeader:
		m.trigger = core.TriggerBecameLeader
	case core.ProbeFinished:
		m.trigger = core.TriggerProbeFinished
	case core.TimerFired:
		m.trigger = core.TriggerTimerFired
	default:
		m.refusals++
	}
	f.gateOpen = f.gateOpen ||
		f.configured && f.credentials != (core.Credentials{}) && f.storeSet && f.synced
	m.fullPass = m.fullPass && f.gateOpen
	return m
}

// list takes a whole read of the store in. What it holds is believed; what it lacks is gone only
// if absence counts.
func (f *facts) list(pods []*core.Pod, absenceCounts bool) (refusals int) {
	listed := f.spare[:0]
	if !absenceCounts {
		listed = append(listed, f.pods...)
	}
	for _, pod := range pods {
		if !isPod(pod) {
			refusals++
			continue
		}
		listed = put(listed, pod)
	}
	f.pods, f.spare = listed, f.pods
	return refusals
}

// change takes in what became of single pods: first who went, then who came or changed (R9).
func (f *facts) change(in core.ResourceIndexUpdated, m *meaning) {
	for i, ref := range in.Deleted {
		later := in.Deleted[i+1:]
		if slices.ContainsFunc(later, func(r core.PodRef) bool { return r.Key == ref.Key }) {
			continue
		}
		place, found := slices.BinarySearchFunc(f.pods, ref.Key, podAgainst)
		if found && f.pods[place].UID == ref.UID {
			f.pods = slices.Delete(f.pods, place, place+1)
			m.deleted = append(m.deleted, ref.Key)
		}
	}
	for _, pod := range in.Upserted {
		if !isPod(pod) {
			m.refusals++
			continue
		}
		f.pods = put(f.pods, pod)
	}
}

// put files a pod under its key, in place of whatever was there.
func put(pods []*core.Pod, pod *core.Pod) []*core.Pod {
	place, found := slices.BinarySearchFunc(pods, pod.Key, podAgainst)
	if found {
		pods[place] = pod
		return pods
	}
	return slices.Insert(pods, place, pod)
}

func podAgainst(pod *core.Pod, key core.PodKey) int { return compareKeys(pod.Key, key) }

func isPod(pod *core.Pod) bool {
	return pod != nil && pod.Key.Name != "" && pod.UID != "" &&
		len(pod.Key.Namespace) <= 253 && len(pod.Key.Name) <= 253
}
