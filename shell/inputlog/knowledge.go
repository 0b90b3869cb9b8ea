package inputlog

import (
	"errors"
	"slices"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// knowledge is what the log has told of the pods so far: the facts last seen, ordered by key. The
// writer and the reader keep it alike, so that a level read needs to tell only what is new. It
// starts empty with each run.
type knowledge struct {
	pods []*core.Pod
	// shared tells that others hold the slice too: it is copied before its next change.
	shared bool
}

// isStoreList tells whether a list is like those of a store: ordered by key, each key once.
func isStoreList(list []*core.Pod) bool {
	for i, pod := range list {
		if pod == nil || i > 0 && list[i-1].Key.Compare(pod.Key) >= 0 {
			return false
		}
	}
	return true
}

// difference appends what the list has that is not known, and the known keys that it lacks. What
// is unchanged costs a comparison and no allocation.
func (k *knowledge) difference(
	list, changed []*core.Pod, gone []core.PodKey,
) ([]*core.Pod, []core.PodKey) {
	known := k.pods
	for _, pod := range list {
		for len(known) > 0 && known[0] != pod && known[0].Key.Compare(pod.Key) < 0 {
			gone = append(gone, known[0].Key)
			known = known[1:]
		}
		if len(known) == 0 || known[0] != pod && known[0].Key != pod.Key {
			changed = append(changed, pod)
			continue
		}
		if !known[0].Equal(pod) {
			changed = append(changed, pod)
		}
		known = known[1:]
	}
	for _, pod := range known {
		gone = append(gone, pod.Key)
	}
	return changed, gone
}

// replace makes the list of a store what is known.
func (k *knowledge) replace(list []*core.Pod) {
	k.pods, k.shared = list, true
}

// apply is the inverse of difference and replace: the whole list. Unchanged pods are the very ones
// that were read before, and an unchanged list is the very same list.
func (k *knowledge) apply(changed []*core.Pod, gone []core.PodKey) ([]*core.Pod, error) {
	if !isStoreList(changed) {
		return nil, errors.New("the changed pods are not in the order of their keys")
	}
	if len(changed) == 0 && len(gone) == 0 {
		k.shared = true
		return k.pods, nil
	}
	list := make([]*core.Pod, 0, len(k.pods)+len(changed))
	for _, pod := range k.pods {
		for len(changed) > 0 && changed[0].Key.Compare(pod.Key) < 0 {
			list = append(list, changed[0])
			changed = changed[1:]
		}
		switch {
		case len(changed) > 0 && changed[0].Key == pod.Key:
			list = append(list, changed[0])
			changed = changed[1:]
		case len(gone) > 0 && gone[0] == pod.Key:
			gone = gone[1:]
		default:
			list = append(list, pod)
		}
	}
	if len(gone) > 0 {
		return nil, errors.New("a pod is gone that the log has not told of")
	}
	list = append(list, changed...)
	k.replace(list)
	return list, nil
}

// learn takes in the pods that an index update tells of, as the reducer does (R9).
func (k *knowledge) learn(update core.ResourceIndexUpdated) {
	if len(update.Upserted) == 0 && len(update.Deleted) == 0 {
		return
	}
	if k.shared {
		k.pods, k.shared = slices.Clone(k.pods), false
	}
	for _, ref := range update.Deleted {
		if i, found := k.find(ref.Key); found && k.pods[i].UID == ref.UID {
			k.pods = slices.Delete(k.pods, i, i+1)
		}
	}
	for _, pod := range update.Upserted {
		if pod == nil {
			continue
		}
		if i, found := k.find(pod.Key); found {
			k.pods[i] = pod
		} else {
			k.pods = slices.Insert(k.pods, i, pod)
		}
	}
}

func (k *knowledge) find(key core.PodKey) (int, bool) {
	return slices.BinarySearchFunc(k.pods, key, func(pod *core.Pod, key core.PodKey) int {
		return pod.Key.Compare(key)
	})
}
