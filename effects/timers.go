package effects

import (
	"sync"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// Timers runs the timers that the reducer arms, on the runtime's own timers: one that waits costs
// no goroutine. Safe for concurrent use.
type Timers struct {
	fire func(core.TimerID)

	mu     sync.Mutex
	armed  map[core.TimerID]*alarm
	closed bool
	// firing counts the calls of fire under way.
	firing sync.WaitGroup
}

// alarm tells two timers of the same number apart.
type alarm struct{ timer *time.Timer }

// NewTimers calls fire once for each timer that runs out, in a goroutine of its own. fire may call
// Start and Stop, but not Close, which waits for it.
func NewTimers(fire func(core.TimerID)) *Timers {
	return &Timers{fire: fire, armed: map[core.TimerID]*alarm{}}
}

// Start arms a timer; one of the same number that is armed is replaced. After Close it does
// nothing.
func (t *Timers) Start(id core.TimerID, after time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return
	}
	t.disarm(id)
	a := &alarm{}
	a.timer = time.AfterFunc(after, func() { t.runOut(id, a) })
	t.armed[id] = a
}

// Stop disarms a timer, if it is armed. It does not wait for a call of fire that has begun: the
// reducer knows a timer that was stopped while it fired.
func (t *Timers) Stop(id core.TimerID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.disarm(id)
}

// Close disarms all timers and waits for the calls of fire under way: fire is not called any more
// once Close has returned.
func (t *Timers) Close() {
	t.mu.Lock()
	t.closed = true
	for id := range t.armed {
		t.disarm(id)
	}
	t.mu.Unlock()
	t.firing.Wait()
}

func (t *Timers) disarm(id core.TimerID) {
	if a, found := t.armed[id]; found {
		a.timer.Stop()
		delete(t.armed, id)
	}
}

func (t *Timers) runOut(id core.TimerID, a *alarm) {
	t.mu.Lock()
	if t.armed[id] != a { // stopped in the very moment in which it ran out
		t.mu.Unlock()
		return
	}
	delete(t.armed, id)
	t.firing.Add(1)
	t.mu.Unlock()
	defer t.firing.Done()
	t.fire(id)
}
