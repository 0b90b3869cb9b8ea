package podstream

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

func storePod(namespace, name, uid string) *unstructured.Unstructured {
	return unstructuredPod(kubectlPod(namespace, name, uid, "10.1.0.10"))
}

func contents(t *testing.T, store *Store) string {
	t.Helper()
	objects, err := store.List(nil)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, object := range objects {
		pod := object.(*unstructured.Unstructured)
		texts = append(texts, fmt.Sprintf("%v:%s", keyOf(pod), pod.GetUID()))
	}
	return strings.Join(texts, " ")
}

func TestStoreAppliesItemsInOrder(t *testing.T) {
	a, b, c := storePod("lb", "a", "u1"), storePod("lb", "b", "u2"), storePod("la", "z", "u3")
	steps := []struct {
		item     Item
		touched  string
		contents string
	}{
		{PodChanged{b}, "[lb/b]", "lb/b:u2"},
		{PodChanged{a}, "[lb/a]", "lb/a:u1 lb/b:u2"},
		{PodChanged{storePod("lb", "a", "u9")}, "[lb/a]", "lb/a:u9 lb/b:u2"},
		// A predecessor's late deletion.
		{PodDeleted{a}, "[]", "lb/a:u9 lb/b:u2"},
		{PodDeleted{storePod("lb", "a", "u9")}, "[lb/a]", "lb/b:u2"},
		{PodDeleted{storePod("lb", "a", "u9")}, "[]", "lb/b:u2"},
		{ListItem{Pods: []*unstructured.Unstructured{a, c, storePod("la", "z", "u4")}},
			"[la/z lb/a lb/b]", "la/z:u4 lb/a:u1"},
		{InitialEventsEnd{}, "[]", "la/z:u4 lb/a:u1"},
		{Problem{}, "[]", "la/z:u4 lb/a:u1"},
		{PodChanged{nil}, "[]", "la/z:u4 lb/a:u1"},
		{PodDeleted{nil}, "[]", "la/z:u4 lb/a:u1"},
		{nil, "[]", "la/z:u4 lb/a:u1"},
		{ListItem{Pods: []*unstructured.Unstructured{nil}}, "[la/z lb/a]", ""},
		{ListItem{}, "[]", ""},
	}
	store := NewStore()
	for i, step := range steps {
		if touched := fmt.Sprint(store.Apply(step.item)); touched != step.touched {
			t.Errorf("step %d: touched %s, want %s", i, touched, step.touched)
		}
		if got := contents(t, store); got != step.contents {
			t.Errorf("step %d: holds %s, want %s", i, got, step.contents)
		}
	}
	if store.HasSynced() {
		t.Error("an item has set the sync")
	}
	store.MarkSynced()
	if !store.HasSynced() {
		t.Error("not synced")
	}
}

func TestStoreGet(t *testing.T) {
	store := NewStore()
	store.Apply(PodChanged{storePod("lb", "a", "u1")})
	store.Apply(PodChanged{storePod("", "b", "u2")})
	for key, uid := range map[string]string{"lb/a": "u1", "b": "u2", "/b": "u2"} {
		object, err := store.Get(key)
		if err != nil || string(object.(*unstructured.Unstructured).GetUID()) != uid {
			t.Errorf("%q: got %v, %v", key, object, err)
		}
	}
	for _, key := range []string{"", "/", "a", "lb/b", "lb", "lb/a/x"} {
		if object, err := store.Get(key); object != nil || !apierrors.IsNotFound(err) {
			t.Errorf("%q: got %v, %v", key, object, err)
		}
	}
}

func TestStoreListSelects(t *testing.T) {
	odd := storePod("lb", "odd", "u1")
	odd.Object["metadata"].(map[string]any)["labels"] = map[string]any{"tier": 5}
	labelled := storePod("lb", "labelled", "u2")
	labelled.SetLabels(map[string]string{"tier": "5"})
	store := NewStore()
	store.Apply(ListItem{Pods: []*unstructured.Unstructured{odd, labelled}})
	selector, err := labels.Parse("tier=5")
	if err != nil {
		t.Fatal(err)
	}
	objects, err := store.List(selector)
	if err != nil || len(objects) != 1 || objects[0] != labelled {
		t.Errorf("got %v, %v", objects, err)
	}
	if objects, _ = store.List(labels.Everything()); len(objects) != 2 {
		t.Errorf("everything is %v", objects)
	}
	if objects, _ = store.List(labels.Nothing()); len(objects) != 0 {
		t.Errorf("nothing is %v", objects)
	}
}

func TestStoreListOfAnUnchangedStoreCostsNothing(t *testing.T) {
	store := NewStore()
	for i := range 1000 {
		store.Apply(PodChanged{storePod("lb", fmt.Sprint(i), "u")})
	}
	_, _ = store.List(nil)
	allocations := testing.AllocsPerRun(100, func() { _, _ = store.List(labels.Everything()) })
	if allocations > 0 {
		t.Errorf("%v allocations", allocations)
	}
}

// A list that was handed out stays as it was, and appending to it does not reach the store's.
func TestStoreListIsASnapshot(t *testing.T) {
	store := NewStore()
	store.Apply(PodChanged{storePod("lb", "a", "u1")})
	before, _ := store.List(nil)
	_ = append(slices.Clip(before), storePod("x", "x", "x"))
	store.Apply(ListItem{})
	if len(before) != 1 || before[0].(*unstructured.Unstructured).GetName() != "a" {
		t.Errorf("got %v", before)
	}
}

func TestStoreConcurrently(t *testing.T) {
	store := NewStore()
	var wait sync.WaitGroup
	for i := range 4 {
		wait.Go(func() {
			pod := storePod("lb", fmt.Sprint(i), "u")
			for range 200 {
				store.Apply(PodChanged{pod})
				_, _ = store.List(labels.Everything())
				_, _ = store.Get("lb/0")
				store.Apply(ListItem{Pods: []*unstructured.Unstructured{pod}})
				store.Apply(PodDeleted{pod})
				store.MarkSynced()
				_ = store.HasSynced()
			}
		})
	}
	wait.Wait()
	if touched := store.Apply(ListItem{}); len(touched) > 4 {
		t.Errorf("touched %v", touched)
	}
}

// The stream, end to end: what is in the store after each of kubectl's documents.
func TestStoreFollowsAWatch(t *testing.T) {
	reader := NewReader(strings.NewReader(string(golden["watch"])))
	store := NewStore()
	var keys []core.PodKey
	for item, err := reader.Next(); err == nil; item, err = reader.Next() {
		keys = append(keys, store.Apply(item)...)
	}
	if got := fmt.Sprint(keys); got != "[lb/hap-0 lb/hap-1 lb/hap-1 lb/hap-0]" {
		t.Errorf("touched %s", got)
	}
	if got := contents(t, store); got != "lb/hap-1:u1" {
		t.Errorf("holds %s", got)
	}
}
