package shell

import (
	"fmt"
	"sync"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/core/intake"
)

// inbox collects what the loop has to take in, in order of arrival. Putting never blocks. What makes
// a look at the pod store necessary goes to the intake, which keeps it as a set: a flood of pod events
// cannot grow it beyond the number of pods. One entry among the others holds the place of the look.
type inbox struct {
	// wake holds a token while there may be something to take.
	wake chan struct{}

	mu      sync.Mutex
	closed  bool
	waiting []any
	// told are the problems that wait.
	told map[string]bool
	// pinged is closed when the loop gets to the ping that waits; nil while none does.
	pinged chan struct{}

	intake intake.Intake
	// store is the one that the intake counted last.
	store PodStore
	// lookWaits reports whether an entry for a look at the store waits.
	lookWaits bool
}

// What may wait in the inbox beside a core.Input and a Problem.
type (
	lookAtStore struct{}
	// ping asks the loop for a sign of life.
	ping struct{ answered chan struct{} }
)

func newInbox() *inbox {
	return &inbox{wake: make(chan struct{}, 1), told: map[string]bool{}}
}

// putInput leaves out what the newest entry asks for already: before Start nobody takes anything.
func (b *inbox) putInput(input core.Input) {
	b.put(func() {
		if n := len(b.waiting); n == 0 || !repeats(b.waiting[n-1], input) {
			b.waiting = append(b.waiting, input)
		}
	})
}

// repeats reports whether input asks for nothing that the one directly before it has not asked for:
// the pass or the replay that it leads to would find everything as the first has left it.
func repeats(before any, input core.Input) bool {
	switch input.(type) {
	case core.ConfigValidated, core.CredentialsUpdated, core.BecameLeader:
		return before == any(input)
	}
	return false
}

// ask gives the intake a reason for a look at the store.
func (b *inbox) ask(ask intake.Ask) {
	b.put(func() {
		b.intake = b.intake.Take(ask)
		b.waitForLook()
	})
}

func (b *inbox) putStore(store PodStore) {
	b.put(func() {
		b.store = store
		b.intake = b.intake.Take(intake.StoreSet{})
		b.waitForLook()
	})
}

func (b *inbox) waitForLook() {
	if b.intake.Due() && !b.lookWaits {
		b.lookWaits = true
		b.waiting = append(b.waiting, lookAtStore{})
	}
}

// next is what the look at the store that is under way has to do next, nil at its end, and the store
// to read from.
func (b *inbox) next(known core.State) (action intake.Action, store PodStore) {
	b.put(func() {
		if b.intake, action = b.intake.Next(known); action == nil {
			b.waitForLook()
		}
		store = b.store
	})
	return action, store
}

// answer gives the intake what was read.
func (b *inbox) answer(read intake.Ask) { b.put(func() { b.intake = b.intake.Take(read) }) }

func (b *inbox) putProblem(problem Problem) {
	b.put(func() {
		if text := problemText(problem); !b.told[text] {
			b.told[text] = true
			b.waiting = append(b.waiting, problem)
		}
	})
}

// problemText is what makes two problems equal.
func problemText(problem Problem) string { return fmt.Sprint(problem.Kind, ": ", problem.Err) }

// putPing gives the channel of the ping that waits: many may ask, one entry is enough. It is never
// closed once the inbox is.
func (b *inbox) putPing() (answered <-chan struct{}) {
	b.put(func() {
		if b.pinged == nil {
			b.pinged = make(chan struct{})
			b.waiting = append(b.waiting, ping{b.pinged})
		}
		answered = b.pinged
	})
	return answered
}

// close lets nothing more in.
func (b *inbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed, b.waiting, b.intake, b.store = true, nil, intake.Intake{}, nil
}

func (b *inbox) put(change func()) {
	b.mu.Lock()
	if !b.closed {
		change()
	}
	b.mu.Unlock()
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// take removes the oldest entry; nil when there is none.
func (b *inbox) take() any {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiting) == 0 {
		b.waiting = nil
		return nil
	}
	next := b.waiting[0]
	b.waiting[0] = nil
	b.waiting = b.waiting[1:]
	switch request := next.(type) {
	case lookAtStore:
		b.lookWaits = false
	case Problem:
		delete(b.told, problemText(request))
	case ping:
		b.pinged = nil
	}
	return next
}
