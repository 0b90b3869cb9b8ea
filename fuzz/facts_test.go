package fuzz

import (
	"fmt"
	"maps"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// facts is the naive model of what is known of the pods and of their store (R6, R9).
type facts struct {
	pods     map[core.PodKey]*core.Pod
	storeSet bool
	synced   bool
	syncSeen bool
}

func (f *facts) take(input core.Input) {
	switch in := input.(type) {
	case core.PodStoreSet:
		f.storeSet = true
		f.synced = in.Synced == core.SyncDone || in.Synced == core.SyncUnknown && f.syncSeen
		f.list(in.Pods, f.synced)
	case core.ResourceSyncComplete:
		if in.Resource == core.HAProxyPods {
			f.syncSeen = true
			f.synced = f.storeSet
			f.list(in.Pods, true)
		}
	case core.DriftPreventionTriggered:
		f.list(in.Pods, f.synced)
	case core.ResourceIndexUpdated:
		if in.Resource == core.HAProxyPods {
			f.change(in)
		}
	}
}

func (f *facts) list(pods []*core.Pod, absenceCounts bool) {
	listed := byKey(pods)
	if absenceCounts {
		f.pods = listed
		return
	}
	maps.Copy(f.pods, listed)
}

func (f *facts) change(in core.ResourceIndexUpdated) {
	uids := map[core.PodKey]string{}
	for _, ref := range in.Deleted {
		uids[ref.Key] = ref.UID
	}
	for key, uid := range uids {
		if pod, found := f.pods[key]; found && pod.UID == uid {
			delete(f.pods, key)
		}
	}
	maps.Copy(f.pods, byKey(in.Upserted))
}

// byKey keeps the last pod of each key, and drops what is no pod.
func byKey(pods []*core.Pod) map[core.PodKey]*core.Pod {
	listed := map[core.PodKey]*core.Pod{}
	for _, pod := range pods {
		if pod != nil && pod.Key.Name != "" && pod.UID != "" {
			listed[pod.Key] = pod
		}
	}
	return listed
}

// differ says how a state's facts differ from the model's; empty if they do not.
func (f *facts) differ(state core.State) string {
	if state.StoreSynced() != f.synced {
		return fmt.Sprintf("store synced: %t instead of %t", state.StoreSynced(), f.synced)
	}
	if state.Len() != len(f.pods) {
		return fmt.Sprintf("%d pods are known instead of %d", state.Len(), len(f.pods))
	}
	for standing := range state.Standings() {
		pod, found := f.pods[standing.Pod.Key]
		if !found || !pod.Equal(standing.Pod) {
			return fmt.Sprintf("%s is known as %+v instead of %+v",
				standing.Pod.Key, *standing.Pod, pod)
		}
	}
	return ""
}
