package shell

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/haproxy-discovery/haproxy-discovery/shell/internal/loopback"
)

func newTestReader(problems *[]Problem) *podReader {
	return newPodReader("agent", func(problem Problem) { *problems = append(*problems, problem) })
}

func TestUnchangedFactsStayTheSamePointer(t *testing.T) {
	var problems []Problem
	reader := newTestReader(&problems)
	store := newTestStore(loopback.Pod("hap-0", "u0", "10.1.0.10"))
	first, err := reader.list(store)
	if err != nil || len(first) != 1 {
		t.Fatal(first, err)
	}
	again, _ := reader.list(store)
	heartbeat := loopback.Pod("hap-0", "u0", "10.1.0.10")
	heartbeat.SetResourceVersion("not a number")
	store.Set(heartbeat)
	afterHeartbeat, _ := reader.list(store)
	if again[0] != first[0] || afterHeartbeat[0] != first[0] {
		t.Error("unchanged facts were made anew")
	}
	if pod, _ := reader.get(store, first[0].Key); pod != first[0] {
		t.Error("unchanged facts of a single pod were made anew")
	}
	store.Set(loopback.Pod("hap-0", "u0", "10.1.0.11"))
	if pod, _ := reader.get(store, first[0].Key); pod == nil || pod.IP.String() != "10.1.0.11" {
		t.Errorf("a change was missed: %v", pod)
	}
}

// Typed pods are read like others, and not converted again while they are the same.
func TestTypedPodIsConvertedOnceWhileItIsTheSame(t *testing.T) {
	var problems []Problem
	reader := newTestReader(&problems)
	store := typed(t, PodSlice{loopback.Pod("hap-0", "u0", "10.1.0.10")})
	first, err := reader.list(store)
	if err != nil || len(first) != 1 || first[0].IP.String() != "10.1.0.10" {
		t.Fatal(first, err)
	}
	conversions := testing.AllocsPerRun(10, func() { _, _ = reader.list(store) })
	if conversions > 10 {
		t.Errorf("%v allocations for a pod that is the same", conversions)
	}
	changed := store[0].DeepCopyObject().(*corev1.Pod)
	changed.ResourceVersion, changed.Status.PodIP = "2", "10.1.0.11"
	again, _ := reader.list(listOf{changed})
	if again[0].IP.String() != "10.1.0.11" {
		t.Errorf("read as %v", again[0].IP)
	}
}

// An object without a resource version may have been changed in place: it is always parsed.
func TestObjectChangedInPlaceWithoutResourceVersionIsReadAgain(t *testing.T) {
	var problems []Problem
	reader := newTestReader(&problems)
	pod := loopback.Pod("hap-0", "u0", "10.1.0.10")
	pod.SetResourceVersion("")
	if _, err := reader.list(PodSlice{pod}); err != nil {
		t.Fatal(err)
	}
	_ = unstructured.SetNestedField(pod.Object, "10.1.0.99", "status", "podIP")
	pods, _ := reader.list(PodSlice{pod})
	if pods[0].IP.String() != "10.1.0.99" {
		t.Errorf("read as %v", pods[0].IP)
	}
}

func TestOfTwoObjectsWithOneKeyTheLastCounts(t *testing.T) {
	var problems []Problem
	pods, err := newTestReader(&problems).list(PodSlice{
		loopback.Pod("hap-1", "u1", "10.1.0.10"), loopback.Pod("hap-0", "u2", "10.1.0.10"),
		loopback.Pod("hap-1", "u3", "10.1.0.10"), loopback.Pod("hap-0", "u4", "10.1.0.10"),
	})
	if err != nil || len(pods) != 2 || pods[0].UID != "u4" || pods[1].UID != "u3" {
		t.Errorf("%v, %v", pods, err)
	}
}

// What is no pod costs one log line, and no other pod anything.
func TestWhatIsNoPodIsToldOnceAndCostsNoOther(t *testing.T) {
	var problems []Problem
	reader := newTestReader(&problems)
	nameless := loopback.Pod("", "u1", "10.1.0.10")
	noUID := loopback.Pod("hap-1", "", "10.1.0.10")
	var typedNil *metav1.PartialObjectMetadata
	var nilFields *unstructured.Unstructured
	store := listOf{nameless, noUID, typedNil, nilFields, nil, &unstructured.Unstructured{}, loopback.Pod("hap-2", "u2", "10.1.0.12")}
	for range 3 {
		pods, err := reader.list(store)
		if err != nil || len(pods) != 1 || pods[0].UID != "u2" {
			t.Fatalf("got %v, %v", pods, err)
		}
	}
	if len(problems) != 3 { // no name, no UID, no object
		t.Errorf("%d problems: %v", len(problems), problems)
	}
	for _, problem := range problems {
		if strings.Contains(problem.Err.Error(), "\n") {
			t.Errorf("more than one line: %v", problem.Err)
		}
	}
}

// listOf is a store of objects of any kind.
type listOf []runtime.Object

func (l listOf) List(selector labels.Selector) ([]runtime.Object, error) { return l, nil }

func (l listOf) Get(string) (runtime.Object, error) { return nil, nil }

func TestMemoryFollowsTheStore(t *testing.T) {
	var problems []Problem
	reader := newTestReader(&problems)
	store := newTestStore()
	for i := range 100 {
		store.Set(loopback.Pod(fmt.Sprintf("hap-%d", i), "u", "10.1.0.10"))
	}
	_, _ = reader.list(store)
	for i := range 98 {
		store.Remove(fmt.Sprintf("hap-%d", i))
	}
	_, _ = reader.list(store)
	_, _ = reader.get(store, store.Remove("hap-98"))
	if len(reader.known) != 1 {
		t.Errorf("%d pods are known", len(reader.known))
	}
}
