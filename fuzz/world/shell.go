package world

import (
	"slices"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// The shell between cluster and core: a store that hears of changes late, an inbox that keeps the
// names of pods only, and level reads of the store when it is their turn (R9).

// storeHeard updates the store, and names the pod to the shell: as a rule once.
func (w *World) storeHeard(h happening) {
	s := &w.cluster.slots[h.slot]
	s.held = h.pod
	if w.has(lostEvents) && w.noise.below(5) == 4 {
		return
	}
	w.name(h.slot)
	if w.has(duplicateNames) && w.noise.below(3) == 2 {
		w.clock.after(w.while(30*time.Millisecond), happening{kind: shellHears, slot: h.slot})
	}
}

// name puts a pod's name into the inbox.
func (w *World) name(at int) {
	if !w.storeSet || slices.Contains(w.named, at) {
		return
	}
	if len(w.named) == 0 {
		delay := time.Duration(0)
		if w.has(slowInbox) {
			delay = w.while(40 * time.Millisecond)
		}
		w.clock.after(delay, happening{kind: shellHandles})
	}
	w.named = append(w.named, at)
}

// handleNamed reads the named pods from the store, as they are by now. Whom the store lacks is
// deleted, under the UID last known for it.
func (w *World) handleNamed() {
	in := core.ResourceIndexUpdated{
		Resource: core.HAProxyPods, Upserted: w.upserted[:0], Deleted: w.deleted[:0],
	}
	for _, at := range w.named {
		if pod := w.held(at); pod != nil {
			in.Upserted = append(in.Upserted, pod)
		} else if known, found := w.state.Standing(slotKeys[at]); found {
			in.Deleted = append(in.Deleted, core.PodRef{Key: slotKeys[at], UID: known.Pod.UID})
		}
	}
	w.named = w.named[:0]
	w.upserted, w.deleted = in.Upserted, in.Deleted
	if len(in.Upserted)+len(in.Deleted) > 0 {
		w.step(in)
	}
}

// held is what the store has of a pod.
func (w *World) held(at int) *core.Pod {
	if w.cluster.slots[at].hidden {
		return nil
	}
	return w.cluster.slots[at].held
}

// list reads the whole store.
func (w *World) list() []*core.Pod {
	w.listed = w.listed[:0]
	for at := range w.cluster.slots {
		if pod := w.held(at); pod != nil {
			w.listed = append(w.listed, pod)
		}
	}
	if !w.has(nonsense) {
		slices.SortFunc(w.listed, func(a, b *core.Pod) int { return a.Key.Compare(b.Key) })
	}
	return w.listed
}

// perform does what core wants done.
func (w *World) perform(effects []core.Effect) {
	for _, effect := range effects {
		switch e := effect.(type) {
		case core.StartProbe:
			w.ask(e)
		case core.CancelProbe:
			w.cancel(e.Probe)
		case core.StartTimer:
			w.startTimer(e)
		case core.StopTimer:
			w.stopTimer(e.Timer)
		}
	}
}
