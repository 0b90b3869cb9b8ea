package demo

import (
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/haproxy-discovery/haproxy-discovery/shell"
)

// podStore stands for the API server: the pods as they are now, by namespace/name. Each change
// makes a new object with a new resource version. Safe for concurrent use; implements
// shell.PodStore.
type podStore struct {
	mu              sync.Mutex
	pods            map[string]*unstructured.Unstructured
	resourceVersion int
	synced          bool
}

func newPodStore() *podStore { return &podStore{pods: map[string]*unstructured.Unstructured{}} }

func (s *podStore) put(p *pod) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resourceVersion++
	s.pods[p.key().String()] = p.object(s.resourceVersion)
}

func (s *podStore) remove(p *pod) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.pods, p.key().String())
}

func (s *podStore) markSynced() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.synced = true
}

// HasSynced tells whether all pods that exist at the start are in.
func (s *podStore) HasSynced() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.synced
}

// List implements shell.PodStore.
func (s *podStore) List(selector labels.Selector) ([]runtime.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return shell.PodSlice(slices.Collect(maps.Values(s.pods))).List(selector)
}

// Get implements shell.PodStore. The slice of one pod, or of nil, knows what to say of one that is
// not there.
func (s *podStore) Get(key string) (runtime.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return shell.PodSlice{s.pods[key]}.Get(key)
}
