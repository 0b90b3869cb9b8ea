package loopback

import (
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// Pod is a running pod of namespace lb, as kubectl shows it.
func Pod(name, uid, ip string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{
			"namespace": "lb", "name": name, "uid": uid, "resourceVersion": "rv-" + uid,
			"labels": map[string]any{"app": "haproxy"},
		},
		"status": map[string]any{
			"phase": "Running", "podIP": ip,
			"containerStatuses": []any{map[string]any{
				"name": "agent", "imageID": "sha256:1", "containerID": "containerd://" + uid,
				"state": map[string]any{"running": map[string]any{}},
			}},
		},
	}}
}

// Store is a shell.PodStore that changes, and that can fail. Safe for concurrent use.
type Store struct {
	mu     sync.Mutex
	pods   map[string]*unstructured.Unstructured
	failed error
}

// NewStore holds the given pods and has synced.
func NewStore(pods ...*unstructured.Unstructured) *Store {
	s := &Store{pods: map[string]*unstructured.Unstructured{}}
	for _, pod := range pods {
		s.Set(pod)
	}
	return s
}

// Set adds or replaces a pod and gives its key.
func (s *Store) Set(pod *unstructured.Unstructured) core.PodKey {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := core.PodKey{Namespace: pod.GetNamespace(), Name: pod.GetName()}
	s.pods[key.String()] = pod
	return key
}

// Remove takes a pod of namespace lb away and gives its key.
func (s *Store) Remove(name string) core.PodKey {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := core.PodKey{Namespace: "lb", Name: name}
	delete(s.pods, key.String())
	return key
}

// Fail lets every read fail from now on; nil lets them work again.
func (s *Store) Fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed = err
}

// List implements shell.PodStore.
func (s *Store) List(labels.Selector) ([]runtime.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	objects := make([]runtime.Object, 0, len(s.pods))
	for _, pod := range s.pods {
		objects = append(objects, pod)
	}
	return objects, s.failed
}

// Get implements shell.PodStore.
func (s *Store) Get(key string) (runtime.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	pod, found := s.pods[key]
	switch {
	case s.failed != nil:
		return nil, s.failed
	case !found:
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "pods"}, key)
	default:
		return pod, nil
	}
}

// HasSynced tells that the store is complete.
func (s *Store) HasSynced() bool { return true }
