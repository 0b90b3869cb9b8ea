package podstream

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func listItem(continued, lossy bool, names ...string) ListItem {
	item := ListItem{Continued: continued, Lossy: lossy}
	for _, name := range names {
		item.Pods = append(item.Pods, storePod("lb", name, "u-"+name))
	}
	return item
}

// R6: only a list of which everything was read removes what it lacks, at its end.
func TestR6OnlyAWholeListRemovesPods(t *testing.T) {
	const before = "lb/a:u-a lb/b:u-b"
	d := storePod("lb", "d", "u-d")
	for name, test := range map[string]struct {
		items    []Item
		state    ListState
		contents string
	}{
		"whole":                 {[]Item{listItem(false, false, "c")}, ListWhole, "lb/c:u-c"},
		"empty":                 {[]Item{listItem(false, false)}, ListWhole, ""},
		"lossy":                 {[]Item{listItem(false, true, "c")}, ListLossy, before + " lb/c:u-c"},
		"one part":              {[]Item{listItem(true, false, "c")}, ListBegun, before + " lb/c:u-c"},
		"all parts":             {[]Item{listItem(true, false, "c"), listItem(true, false, "b"), listItem(false, false)}, ListWhole, "lb/b:u-b lb/c:u-c"},
		"a lossy part":          {[]Item{listItem(true, true, "c"), listItem(false, false)}, ListLossy, before + " lb/c:u-c"},
		"a lost object":         {[]Item{listItem(true, false, "c"), Problem{}, listItem(false, false)}, ListLossy, before + " lb/c:u-c"},
		"a notice":              {[]Item{listItem(true, false, "c"), Problem{Harmless: true}, listItem(false, false)}, ListWhole, "lb/c:u-c"},
		"an object lost before": {[]Item{Problem{}, listItem(false, false)}, ListWhole, ""},
		"changed in between":    {[]Item{listItem(true, false), PodChanged{d}, listItem(false, false)}, ListWhole, "lb/d:u-d"},
		"deleted in between":    {[]Item{listItem(true, false, "d"), PodDeleted{d}, listItem(false, false)}, ListWhole, ""},
		"whole again":           {[]Item{listItem(false, true), listItem(false, false, "c")}, ListWhole, "lb/c:u-c"},
	} {
		t.Run(name, func(t *testing.T) {
			store := NewStore()
			store.Apply(listItem(false, false, "a", "b"))
			for _, item := range test.items {
				store.Apply(item)
			}
			if got := contents(t, store); got != test.contents || store.LastList() != test.state {
				t.Errorf("state %d, holds %s", store.LastList(), got)
			}
		})
	}
}

func TestPartsAreRead(t *testing.T) {
	metadata := func(next any) map[string]any {
		return with(list(pod(1)), "metadata", map[string]any{"continue": next})
	}
	const one = "list of 1: lb/hap-1 u1 10.1.0.2 running"
	expect(t, readAll(t, join(lined(metadata("abc")), lined(metadata("")), lined(metadata(nil)),
		lined(with(list(pod(1)), "metadata", nil)), lined(with(list(pod(1)), "metadata", 5)))),
		"part of a "+one, one, one, one, one)
}

// R3: the bound on names is that of core.
func TestR3LongestName(t *testing.T) {
	for size, want := range map[int]string{253: "changed", 254: "problem"} {
		long := fmt.Sprintf("%0*d", size, 0)
		for _, object := range []map[string]any{
			kubectlPod("lb", long, "u", "10.1.0.1"), kubectlPod(long, "a", "u", "10.1.0.1"),
		} {
			if got := readAll(t, lined(object)); len(got) != 1 || got[0][:len(want)] != want {
				t.Errorf("%d bytes: %q", size, got)
			}
		}
	}
}

func storedPod(t *testing.T, store *Store) *unstructured.Unstructured {
	t.Helper()
	objects, err := store.List(nil)
	if err != nil || len(objects) != 1 {
		t.Fatalf("%v, %v", objects, err)
	}
	return objects[0].(*unstructured.Unstructured)
}
