package core_test

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// Changed names exactly the pods whose standings differ, in order, in either direction; among them
// those at both ends and those that came or went.
func TestChangedNamesWhoStandsElsewhere(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	list := func() []*core.Pod {
		pods := []*core.Pod{}
		for i := range 12 {
			if uid := random.IntN(3); uid > 0 {
				pods = append(pods, &core.Pod{
					Key: core.PodKey{Namespace: "lb", Name: "hap-" + strconv.Itoa(i)},
					UID: strconv.Itoa(uid),
				})
			}
		}
		return pods
	}
	differences := 0
	for range 300 {
		first, _ := core.Reduce(core.New(core.Config{}), core.PodStoreSet{Pods: list(), Synced: core.SyncDone})
		second, _ := core.Reduce(first, core.PodStoreSet{Pods: list(), Synced: core.SyncDone})
		var want []core.PodKey
		for i := range 12 {
			key := core.PodKey{Namespace: "lb", Name: "hap-" + strconv.Itoa(i)}
			was, _ := first.Standing(key)
			is, _ := second.Standing(key)
			if was.Pod != is.Pod {
				want = append(want, key)
			}
		}
		slices.SortFunc(want, core.PodKey.Compare)
		differences += len(want)
		if got := second.Changed(first); !slices.Equal(got, want) {
			t.Fatalf("changed: %v, want %v", got, want)
		}
		if got := first.Changed(second); !slices.Equal(got, want) {
			t.Fatalf("changed back: %v, want %v", got, want)
		}
		if got := first.Changed(first); got != nil {
			t.Fatalf("the same state has changed: %v", got)
		}
	}
	if differences == 0 {
		t.Error("nothing was compared")
	}
}
