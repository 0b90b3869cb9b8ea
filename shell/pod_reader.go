package shell

import (
	"fmt"
	"reflect"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// podReader reads facts from a pod store. It remembers what it has read: an object that is still
// the same is not parsed again, and facts that are still the same stay the same pointer, so that
// everything downstream finds them unchanged at the price of comparing pointers.
type podReader struct {
	agentContainer string
	problem        func(Problem)

	known map[core.PodKey]knownPod
	// complained holds what was said about objects that are no pods, so that it is said once.
	complained map[string]bool
}

type knownPod struct {
	object          runtime.Object
	resourceVersion string
	pod             *core.Pod
}

func newPodReader(agentContainer string, problem func(Problem)) *podReader {
	return &podReader{
		agentContainer: agentContainer,
		problem:        problem,
		known:          map[core.PodKey]knownPod{},
		complained:     map[string]bool{},
	}
}

// list reads the whole store, in the order of the keys. Afterwards the pods that it lacks are known
// no more, if absence counts.
func (r *podReader) list(store PodStore) ([]*core.Pod, error) {
	objects, err := store.List(labels.Everything())
	if err != nil {
		return nil, fmt.Errorf("listing the pod store: %w", err)
	}
	pods := make([]*core.Pod, 0, len(objects))
	complaints := map[string]bool{}
	for _, object := range objects {
		pod, err := r.read(object)
		if err != nil {
			r.complain(err, complaints)
			continue
		}
		pods = append(pods, pod)
	}
	r.complained = complaints
	byKey := func(a, b *core.Pod) int { return a.Key.Compare(b.Key) }
	if !slices.IsSortedFunc(pods, byKey) {
		slices.SortStableFunc(pods, byKey)
	}
	return pods, nil
}

// changes reads the named pods and gives what is new of them. A pod that the store lacks, or holds
// no pod for any more, is deleted, with the UID last known for it (R9). unread are the keys that
// the store could not be asked for.
func (r *podReader) changes(
	store PodStore, keys []core.PodKey,
) (input core.ResourceIndexUpdated, unread []core.PodKey) {
	input.Resource = core.HAProxyPods
	for _, key := range keys {
		was, wasKnown := r.known[key]
		object, err := store.Get(key.String())
		if err != nil && !apierrors.IsNotFound(err) {
			r.problem(Problem{StoreUnreadable, fmt.Errorf("reading %s from the pod store: %w", key, err)})
			unread = append(unread, key)
			continue
		}
		var pod *core.Pod
		if err == nil {
			if pod, err = r.read(object); err != nil {
				r.complain(err, r.complained)
			}
		}
		switch {
		case err != nil && wasKnown:
			input.Deleted = append(input.Deleted, core.PodRef{Key: key, UID: was.pod.UID})
			delete(r.known, key)
		case err == nil && pod != was.pod:
			input.Upserted = append(input.Upserted, pod)
		}
	}
	return input, unread
}

// forgetAbsent drops what a complete list lacks, so that memory follows the store.
func (r *podReader) forgetAbsent(pods []*core.Pod) {
	if len(r.known) == len(pods) {
		return
	}
	known := make(map[core.PodKey]knownPod, len(pods))
	for _, pod := range pods {
		known[pod.Key] = r.known[pod.Key]
	}
	r.known = known
}

// read gives the facts of one object. Resource versions are compared for equality only.
func (r *podReader) read(object runtime.Object) (*core.Pod, error) {
	fields, err := fieldsOf(object)
	if err != nil {
		return nil, err
	}
	metadata, _ := fields.Object["metadata"].(map[string]any)
	namespace, _ := metadata["namespace"].(string)
	name, _ := metadata["name"].(string)
	version, _ := metadata["resourceVersion"].(string)
	key := core.PodKey{Namespace: namespace, Name: name}
	was, wasKnown := r.known[key]
	if wasKnown && was.object == object && version != "" && was.resourceVersion == version {
		return was.pod, nil
	}
	pod, err := core.ReadPod(fields, r.agentContainer)
	if err != nil {
		return nil, err
	}
	if wasKnown && was.pod.Equal(pod) {
		pod = was.pod
	}
	r.known[key] = knownPod{object: object, resourceVersion: version, pod: pod}
	return pod, nil
}

// fieldsOf converts typed pods, for stores that hold those.
func fieldsOf(object runtime.Object) (*unstructured.Unstructured, error) {
	if value := reflect.ValueOf(object); !value.IsValid() || value.Kind() == reflect.Pointer && value.IsNil() {
		return nil, fmt.Errorf("%w: no object", core.ErrNotAPod)
	}
	if fields, isUnstructured := object.(*unstructured.Unstructured); isUnstructured {
		return fields, nil
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, fmt.Errorf("%w: %T cannot be converted: %w", core.ErrNotAPod, object, err)
	}
	return &unstructured.Unstructured{Object: fields}, nil
}

func (r *podReader) complain(err error, said map[string]bool) {
	if !r.complained[err.Error()] && !said[err.Error()] {
		r.problem(Problem{NotAPod, err})
	}
	said[err.Error()] = true
}
