package world

import (
	"slices"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/core/intake"
)

// The shell between cluster and core: a store that hears of changes late, that is swapped, fails and
// has yet to sync, and the intake, which is the real one. Reads are performed here.

// storeHeard updates the store, and names the pod to the intake: as a rule once.
func (w *World) storeHeard(h happening) {
	s := &w.cluster.slots[h.slot]
	s.held, s.told = h.pod, false
	if w.has(lostEvents) && w.noise.below(5) == 4 {
		return
	}
	w.name(h.slot)
	if w.has(duplicateNames) && w.noise.below(3) == 2 {
		w.clock.after(w.while(30*time.Millisecond), happening{kind: shellHears, slot: h.slot})
	}
}

// name tells of a change of a pod, by its name; now and then without saying whose.
func (w *World) name(at int) {
	if w.has(duplicateNames) && w.noise.below(8) == 7 {
		w.cluster.slots[at].told = w.held(at) != nil // absence counts only once the store has synced
		w.look(intake.PodsNamed{})
		return
	}
	w.cluster.slots[at].told = true
	w.look(intake.PodsNamed{Keys: []core.PodKey{slotKeys[at]}})
}

// look gives the intake a reason to look at the store, which it does when its turn comes.
func (w *World) look(ask intake.Ask) {
	w.intake = w.intake.Take(ask)
	w.waitForLook()
}

func (w *World) waitForLook() {
	if !w.intake.Due() || w.lookWaits {
		return
	}
	w.lookWaits = true
	delay := time.Duration(0)
	if w.has(slowInbox) {
		delay = w.while(40 * time.Millisecond)
	}
	w.clock.after(delay, happening{kind: shellLooks})
}

// lookAtStore does what the intake asks for, until it has had its turn.
func (w *World) lookAtStore() {
	w.lookWaits = false
	for w.failure == nil {
		var action intake.Action
		w.intake, action = w.intake.Next(w.state)
		switch a := action.(type) {
		case nil:
			w.waitForLook()
			w.checkKnown()
			return
		case intake.ReadList:
			w.intake = w.intake.Take(w.readList(a))
		case intake.ReadPods:
			w.intake = w.intake.Take(w.readPods(a))
		case intake.StartRetry:
			w.clock.after(a.After, happening{kind: storeRetries})
		case intake.Tell:
			w.step(a.Input)
		}
	}
}

func (w *World) readList(a intake.ReadList) intake.ListRead {
	read := intake.ListRead{Store: a.Store, Synced: w.storeSays, Pods: w.list(), Failed: w.readFails()}
	for at := range w.cluster.slots {
		s := &w.cluster.slots[at]
		s.told = !w.stale && (s.told || w.held(at) != nil || w.storeComplete)
	}
	if w.stale {
		read.Pods, w.stale = w.oldList, false
	}
	return read
}

func (w *World) readPods(a intake.ReadPods) intake.PodsRead {
	read := intake.PodsRead{Store: a.Store}
	for _, key := range a.Keys {
		at := slices.Index(slotKeys[:], key)
		read.Pods = append(read.Pods, intake.PodRead{Key: key, Pod: w.held(at), Failed: w.readFails()})
	}
	return read
}

func (w *World) readFails() bool {
	return w.has(failingReads) && !w.calm && w.noise.below(3) == 2
}

// checkKnown compares what core knows with what the store holds, once nothing is owed: of each pod
// whose newest change was told (R6, R9).
func (w *World) checkKnown() {
	if !w.intake.AtRest() || w.has(nonsense) {
		return
	}
	for at := range w.cluster.slots {
		held := w.held(at)
		standing, known := w.state.Standing(slotKeys[at])
		if w.cluster.slots[at].told && (known != (held != nil) || known && !standing.Pod.Equal(held)) {
			w.fail("R9: %v is known as %+v, the store holds %+v, and nothing is owed",
				slotKeys[at], standing.Pod, held)
		}
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
	slices.SortFunc(w.listed, func(a, b *core.Pod) int { return a.Key.Compare(b.Key) })
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
