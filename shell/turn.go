package shell

import (
	"runtime"
	"sync"
)

// turn is held by the loop's goroutine except while it is in code of others, in a store or an
// observer, which may never come back. Start can therefore take it at any time, and the component's
// things with it; a loop that comes back after that ends where it stands and touches nothing (R31).
type turn struct {
	mu        sync.Mutex
	abandoned bool
	// where names the foreign code that the loop is in; "" while it is in none.
	where string
}

// leave is called by the loop before it calls foreign code.
func (t *turn) leave(where string) {
	t.where = where
	t.mu.Unlock()
}

// comeBack is called after it. It does not return once the loop was abandoned.
func (t *turn) comeBack() {
	t.mu.Lock()
	if t.abandoned {
		runtime.Goexit()
	}
	t.where = ""
}

// abandon gives up the loop and tells where it is.
func (t *turn) abandon() (where string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.abandoned = true
	return t.where
}
