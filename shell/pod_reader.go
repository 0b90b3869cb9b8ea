package shell

import (
	"fmt"
	"reflect"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/core/intake"
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

// readList and readPods answer the intake. What cannot be read is told as a problem (R20).
func (r *podReader) readList(store PodStore, a intake.ReadList) intake.ListRead {
	synced := syncOf(store) // asked before the list is read: it must not promise too much
	pods, err := r.list(store)
	if err != nil {
		r.problem(Problem{StoreUnreadable, err})
	}
	return intake.ListRead{Store: a.Store, Synced: synced, Pods: pods, Failed: err != nil}
}

func (r *podReader) readPods(store PodStore, a intake.ReadPods) intake.PodsRead {
	read := intake.PodsRead{Store: a.Store, Pods: make([]intake.PodRead, 0, len(a.Keys))}
	for _, key := range a.Keys {
		pod, err := r.get(store, key)
		if err != nil {
			r.problem(Problem{StoreUnreadable, err})
		}
		read.Pods = append(read.Pods, intake.PodRead{Key: key, Pod: pod, Failed: err != nil})
	}
	return read
}

// list reads the whole store, in the order of the keys; of two objects with one key, the last counts.
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
	pods = inOrder(pods)
	r.forgetAbsent(pods)
	return pods, nil
}

// get reads one pod: nil if the store lacks it, or holds no pod under its key. The error says that
// the store could not be asked.
func (r *podReader) get(store PodStore, key core.PodKey) (*core.Pod, error) {
	object, err := store.Get(key.String())
	switch {
	case apierrors.IsNotFound(err):
		delete(r.known, key)
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading %s from the pod store: %w", key, err)
	}
	pod, err := r.read(object)
	if err != nil {
		r.complain(err, r.complained)
		return nil, nil
	}
	return pod, nil
}

// inOrder sorts by key and keeps the last of those with the same one.
func inOrder(pods []*core.Pod) []*core.Pod {
	byKey := func(a, b *core.Pod) int { return a.Key.Compare(b.Key) }
	if !slices.IsSortedFunc(pods, byKey) {
		slices.SortStableFunc(pods, byKey)
	}
	kept := pods[:0]
	for i, pod := range pods {
		if i+1 == len(pods) || pods[i+1].Key != pod.Key {
			kept = append(kept, pod)
		}
	}
	return kept
}

// forgetAbsent drops what a list lacks, so that memory follows the store.
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

// read gives the facts of one object. Resource versions are compared for equality only. Typed pods
// are converted only where they have changed.
func (r *podReader) read(object runtime.Object) (*core.Pod, error) {
	key, version, err := identify(object)
	if err != nil {
		return nil, err
	}
	was, wasKnown := r.known[key]
	if wasKnown && was.object == object && version != "" && was.resourceVersion == version {
		return was.pod, nil
	}
	fields, err := fieldsOf(object)
	if err != nil {
		return nil, err
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

// identify gives an object's key and resource version.
func identify(object runtime.Object) (key core.PodKey, version string, err error) {
	if value := reflect.ValueOf(object); !value.IsValid() ||
		value.Kind() == reflect.Pointer && value.IsNil() {
		return core.PodKey{}, "", fmt.Errorf("%w: no object", core.ErrNotAPod)
	}
	switch o := object.(type) {
	case *unstructured.Unstructured: // its own getters take three times as long
		metadata, _ := o.Object["metadata"].(map[string]any)
		key.Namespace, _ = metadata["namespace"].(string)
		key.Name, _ = metadata["name"].(string)
		version, _ = metadata["resourceVersion"].(string)
	case metav1.Object:
		key = core.PodKey{Namespace: o.GetNamespace(), Name: o.GetName()}
		version = o.GetResourceVersion()
	}
	return key, version, nil
}

// fieldsOf converts typed pods, for stores that hold those.
func fieldsOf(object runtime.Object) (*unstructured.Unstructured, error) {
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
