package intake

import (
	"slices"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// takeList takes the answer to a ReadList. Of a list that could not be read, what it was for is owed;
// pods that were named besides are read one by one, unless the store is new.
func (i *Intake) takeList(read ListRead) {
	if read.Store != i.store || !i.answering.wantList() || i.list != nil {
		return
	}
	if !read.Failed {
		i.list = &read
		return
	}
	if i.answering.store {
		i.owed = i.owed.and(i.answering)
	} else {
		i.owed = i.owed.and(i.answering.withoutNames())
		i.asked.named = i.asked.named.and(i.answering.named)
	}
	i.answering, i.told = asks{}, true
}

// takePods takes the answer to a ReadPods. What could not be read is owed.
func (i *Intake) takePods(read PodsRead) {
	if read.Store != i.store || i.answering.wantList() || i.pods != nil {
		return
	}
	i.pods = &read
	for _, pod := range read.Pods {
		if pod.Failed {
			i.owed.named = i.owed.named.with([]core.PodKey{pod.Key})
		}
	}
}

// tell is the next input that comes of what was read; nil when all of it was told.
func (i *Intake) tell(known core.State) core.Input {
	var changes core.ResourceIndexUpdated
	if i.pods != nil {
		changes = changesOf(i.pods.Pods, known)
		i.pods = nil
	} else {
		if input := i.tellList(known); input != nil {
			return input
		}
		changes = i.changesOfList(known)
		i.list = nil
	}
	i.answering = asks{}
	if len(changes.Upserted)+len(changes.Deleted) == 0 {
		return nil
	}
	return changes
}

// tellList is the next input that tells the whole list. Each of them makes a comparison needless.
func (i *Intake) tellList(known core.State) core.Input {
	a, list := &i.answering, i.list
	// Nobody may have told the sync of a store that says so itself.
	a.sync = a.sync || list.Synced == core.SyncDone && known.StoreSet() && !known.StoreSynced()
	switch {
	case a.store:
		a.store, a.drift, a.compare = false, false, false
		return core.PodStoreSet{Pods: list.Pods, Synced: list.Synced}
	case a.sync:
		a.sync, a.drift, a.compare = false, false, false
		return core.ResourceSyncComplete{Resource: core.HAProxyPods, Pods: list.Pods}
	case a.drift:
		a.drift, a.compare = false, false
		return core.DriftPreventionTriggered{Pods: list.Pods}
	default:
		return nil
	}
}

// changesOfList is how the list differs from what core knows, where a comparison was asked for; in it,
// absence counts once the store has synced. A pod that was named and that the list lacks is deleted,
// whether the store has synced or not.
func (i *Intake) changesOfList(known core.State) core.ResourceIndexUpdated {
	named := i.answering.named
	if i.answering.compare {
		return compared(i.list.Pods, known, func(key core.PodKey) bool {
			return known.StoreSynced() || named.has(key)
		})
	}
	absent := make([]PodRead, 0, named.len())
	for _, key := range named.sorted() {
		_, listed := slices.BinarySearchFunc(i.list.Pods, key,
			func(pod *core.Pod, key core.PodKey) int { return pod.Key.Compare(key) })
		if !listed {
			absent = append(absent, PodRead{Key: key})
		}
	}
	return changesOf(absent, known)
}

// compared walks through a list and what core knows side by side; both are in the order of the keys.
func compared(
	pods []*core.Pod, known core.State, absenceCounts func(core.PodKey) bool,
) core.ResourceIndexUpdated {
	changes := core.ResourceIndexUpdated{Resource: core.HAProxyPods}
	for standing := range known.Standings() {
		was := standing.Pod
		for len(pods) > 0 && pods[0].Key.Compare(was.Key) < 0 {
			changes.Upserted = append(changes.Upserted, pods[0])
			pods = pods[1:]
		}
		switch {
		case len(pods) > 0 && pods[0].Key == was.Key:
			if !was.Equal(pods[0]) {
				changes.Upserted = append(changes.Upserted, pods[0])
			}
			pods = pods[1:]
		case absenceCounts(was.Key):
			changes.Deleted = append(changes.Deleted, core.PodRef{Key: was.Key, UID: was.UID})
		}
	}
	changes.Upserted = append(changes.Upserted, pods...)
	return changes
}

// changesOf is how what was read differs from what core knows.
func changesOf(read []PodRead, known core.State) core.ResourceIndexUpdated {
	changes := core.ResourceIndexUpdated{Resource: core.HAProxyPods}
	for _, r := range read {
		was, found := known.Standing(r.Key)
		switch {
		case r.Failed:
		case r.Pod == nil && found:
			changes.Deleted = append(changes.Deleted, core.PodRef{Key: r.Key, UID: was.Pod.UID})
		case r.Pod != nil && !(found && was.Pod.Equal(r.Pod)):
			changes.Upserted = append(changes.Upserted, r.Pod)
		}
	}
	return changes
}
