package podstream

import (
	"maps"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// Store holds the pods that a stream has told of so far. Safe for concurrent use. The pods in it
// are shared: nobody may change them.
type Store struct {
	mu     sync.Mutex
	pods   map[core.PodKey]*unstructured.Unstructured
	sorted []runtime.Object // all pods by key; nil after a change
	synced bool

	listing  *listing // the list under way; nil if there is none
	lastList ListState
}

// NewStore is an empty store that has not synced.
func NewStore() *Store {
	return &Store{pods: make(map[core.PodKey]*unstructured.Unstructured)}
}

// Apply takes in one Item and tells, in order, the keys of the pods that it added, changed, removed
// or confirmed. The sync is not touched: see MarkSynced.
func (s *Store) Apply(item Item) []core.PodKey {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch item := item.(type) {
	case ListItem:
		return s.list(item)
	case PodChanged:
		return s.set(item.Pod)
	case PodDeleted:
		return s.remove(item.Pod)
	case Problem:
		if s.listing != nil && !item.Harmless {
			s.listing.lossy = true // it may have been one of the parts
		}
	}
	return nil
}

func (s *Store) set(pod *unstructured.Unstructured) []core.PodKey {
	if pod == nil {
		return nil
	}
	key := keyOf(pod)
	s.pods[key] = pod
	s.sorted = nil
	if s.listing != nil {
		s.listing.held[key] = true
	}
	return []core.PodKey{key}
}

// remove ignores the late deletion of a predecessor under the same name.
func (s *Store) remove(pod *unstructured.Unstructured) []core.PodKey {
	if pod == nil {
		return nil
	}
	key := keyOf(pod)
	stored, found := s.pods[key]
	if !found || stored.GetUID() != pod.GetUID() {
		return nil
	}
	delete(s.pods, key)
	s.sorted = nil
	return []core.PodKey{key}
}

// MarkSynced tells that the store holds all pods that existed when the stream began.
func (s *Store) MarkSynced() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.synced = true
}

// HasSynced tells whether MarkSynced was called.
func (s *Store) HasSynced() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.synced
}

// List gives the pods that the selector matches, ordered by namespace, then name; nil matches all.
// A pod whose labels cannot be read counts as one without labels. The slice is shared and must not
// be changed. The error is always nil.
func (s *Store) List(selector labels.Selector) ([]runtime.Object, error) {
	all := s.all()
	if selector == nil || selector.Empty() {
		return all, nil
	}
	var matching []runtime.Object
	for _, object := range all {
		if selector.Matches(labels.Set(object.(*unstructured.Unstructured).GetLabels())) {
			matching = append(matching, object)
		}
	}
	return matching, nil
}

func (s *Store) all() []runtime.Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sorted == nil {
		s.sorted = make([]runtime.Object, 0, len(s.pods))
		for _, key := range slices.SortedFunc(maps.Keys(s.pods), core.PodKey.Compare) {
			s.sorted = append(s.sorted, s.pods[key])
		}
	}
	return s.sorted
}

// Get finds a pod by "namespace/name". For one that is not there, the error is a NotFound of the
// Kubernetes API (apierrors.IsNotFound).
func (s *Store) Get(key string) (runtime.Object, error) {
	namespace, name, hasNamespace := strings.Cut(key, "/")
	if !hasNamespace {
		namespace, name = "", key
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if pod, found := s.pods[core.PodKey{Namespace: namespace, Name: name}]; found {
		return pod, nil
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "pods"}, key)
}

func keyOf(pod *unstructured.Unstructured) core.PodKey {
	return core.PodKey{Namespace: pod.GetNamespace(), Name: pod.GetName()}
}
