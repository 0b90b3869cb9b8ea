package audit_test

import (
	"fmt"
	"maps"
	"testing"

	"pgregory.net/rapid"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/core/audit"
)

// lossyWatch is a cluster, and a cache that follows it by a watch that may be late, and may lose
// events without a word. Two looks are further apart than the watch is ever late.
type lossyWatch struct {
	t       *rapid.T
	cluster audit.View
	cache   audit.View
	queue   []change
	version int
	loses   bool
	// delivered counts events, lost ones too.
	delivered int
	auditor   audit.Auditor
}

// change is an event of the watch; the zero version is a deletion.
type change struct {
	key     core.PodKey
	version audit.Version
	lost    bool
}

func (w *lossyWatch) change() {
	key := core.PodKey{Namespace: "lb", Name: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(w.t, "pod")}
	was, there := w.cluster[key]
	w.version++
	version := audit.Version{UID: was.UID, ResourceVersion: fmt.Sprint(w.version)}
	switch {
	case !there:
		version.UID = fmt.Sprintf("uid-%d", w.version)
	case rapid.Bool().Draw(w.t, "deleted"):
		version = audit.Version{}
	}
	w.queue = append(w.queue, change{key, version, w.loses && rapid.Bool().Draw(w.t, "lost")})
	set(w.cluster, key, version)
}

func (w *lossyWatch) deliver(n int) {
	for _, next := range w.queue[:n] {
		if !next.lost {
			set(w.cache, next.key, next.version)
		}
	}
	w.queue, w.delivered = w.queue[n:], w.delivered+n
}

func set(view audit.View, key core.PodKey, version audit.Version) {
	if version == (audit.Version{}) {
		delete(view, key)
	} else {
		view[key] = version
	}
}

func (w *lossyWatch) work(what string) {
	for range rapid.IntRange(0, 4).Draw(w.t, what) {
		if rapid.Bool().Draw(w.t, "changes") {
			w.change()
		} else {
			w.deliver(rapid.IntRange(0, len(w.queue)).Draw(w.t, "delivered"))
		}
	}
}

// look audits, with the world going on before and after the answer, and puts the cache right if it
// is told to.
func (w *lossyWatch) look() audit.Verdict {
	seen := audit.Look{Before: maps.Clone(w.cache)}
	w.work("before the answer")
	seen.Listed = maps.Clone(w.cluster)
	w.work("after the answer")
	seen.After = maps.Clone(w.cache)
	var verdict audit.Verdict
	w.auditor, verdict = w.auditor.Judge(seen)
	if len(verdict.Lost) > 0 {
		w.cache, w.queue = maps.Clone(w.cluster), nil
	}
	return verdict
}

// pass lets more time pass than any change takes to arrive.
func (w *lossyWatch) pass() {
	due := w.delivered + len(w.queue)
	w.work("between two looks")
	w.deliver(max(0, due-w.delivered))
}

func newLossyWatch(t *rapid.T, loses bool) *lossyWatch {
	return &lossyWatch{t: t, cluster: audit.View{}, cache: audit.View{}, loses: loses}
}

// However much changes while it is looked at, a watch that loses nothing raises no alarm, and each
// look is confirmed by itself or by the next.
func TestNoFalseAlarm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newLossyWatch(t, false)
		for look := range 6 {
			verdict := w.look()
			if len(verdict.Lost) > 0 {
				t.Fatalf("look %d: false alarm %v", look, verdict.Lost)
			}
			if look > 0 && !verdict.ConfirmedBefore {
				t.Fatalf("look %d does not confirm the one before", look)
			}
			w.pass()
		}
	})
}

// Whatever was lost, two looks at a cluster at rest find it; then the cache is right, which the third
// confirms. A look never confirms a cache that is wrong.
func TestLossIsFoundWithinTwoLooks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newLossyWatch(t, true)
		for range rapid.IntRange(0, 4).Draw(t, "looks") {
			w.look()
			w.pass()
		}
		w.deliver(len(w.queue))
		for range 2 {
			seen := audit.Look{Listed: w.cluster, Before: w.cache, After: w.cache}
			var verdict audit.Verdict
			w.auditor, verdict = w.auditor.Judge(seen)
			if verdict.Confirmed != maps.Equal(w.cache, w.cluster) {
				t.Fatalf("cluster %v, cache %v: %+v", w.cluster, w.cache, verdict)
			}
			if len(verdict.Lost) > 0 {
				w.cache = maps.Clone(w.cluster)
			}
		}
		if !maps.Equal(w.cache, w.cluster) {
			t.Fatalf("after two looks, cluster %v, cache %v", w.cluster, w.cache)
		}
	})
}
