package shell

import (
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// PodStore is where the component reads pods from: always the present state, never an event's
// object. The lister of a dynamic informer satisfies it as it is, and so does a PodSlice. Objects
// are read and never changed; they must not be changed in place by others either. All methods may
// be called from the component's goroutine at any time.
//
// A store that also has a method HasSynced() bool is asked whether it holds all pods by now, before
// each complete read. Of one that has not, absence of a pod says nothing. One without the method
// cannot say: the first one counts as synced once a ResourceSyncComplete was handed over, a later one
// once it was after SetPodStore (R6).
type PodStore interface {
	// List gives the pods that match the selector, in any order.
	List(selector labels.Selector) ([]runtime.Object, error)
	// Get finds a pod by namespace/name. The error for a pod that is not there satisfies
	// apierrors.IsNotFound; any other error means that the store could not be read.
	Get(key string) (runtime.Object, error)
}

// syncer is what a store implements that can say whether it has done its initial sync.
type syncer interface{ HasSynced() bool }

func syncOf(store PodStore) core.Sync {
	switch s, canSay := store.(syncer); {
	case !canSay:
		return core.SyncUnknown
	case s.HasSynced():
		return core.SyncDone
	default:
		return core.SyncPending
	}
}

// PodSlice is a fixed list of pods as a PodStore. It counts as synced.
type PodSlice []*unstructured.Unstructured

// List implements PodStore.
func (s PodSlice) List(selector labels.Selector) ([]runtime.Object, error) {
	objects := make([]runtime.Object, 0, len(s))
	for _, pod := range s {
		if pod != nil && (selector.Empty() || selector.Matches(labels.Set(pod.GetLabels()))) {
			objects = append(objects, pod)
		}
	}
	return objects, nil
}

// Get implements PodStore.
func (s PodSlice) Get(key string) (runtime.Object, error) {
	for _, pod := range s {
		if pod != nil && pod.GetNamespace()+"/"+pod.GetName() == key {
			return pod, nil
		}
	}
	return nil, errors.NewNotFound(schema.GroupResource{Resource: "pods"}, key)
}

// HasSynced tells that a slice is complete.
func (s PodSlice) HasSynced() bool { return true }
