package world

import (
	"slices"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

func (w *World) startTimer(e core.StartTimer) {
	w.timers = append(w.timers, e.Timer)
	w.clock.after(e.After, happening{kind: timerFires, id: uint64(e.Timer)})
}

func (w *World) stopTimer(id core.TimerID) {
	w.timers = slices.DeleteFunc(w.timers, func(t core.TimerID) bool { return t == id })
	if w.has(lateTimers) && w.noise.below(3) == 0 {
		w.clock.after(w.while(time.Millisecond),
			happening{kind: timerFires, id: uint64(id), stopped: true})
	}
}

func (w *World) timerFired(h happening) {
	id := core.TimerID(h.id)
	at := slices.Index(w.timers, id)
	if at >= 0 {
		w.timers = slices.Delete(w.timers, at, at+1)
	}
	if at >= 0 || h.stopped {
		w.step(core.TimerFired{Timer: id})
	}
}
