package checking

import (
	"sync"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell"
)

const (
	// backlogLimit bounds the steps that wait. Each holds on to an old state, which shares most with
	// the ones after it.
	backlogLimit = 4096
	// backlogBatch is how many steps wait before the checks are told so. It is far more than one,
	// since waking a goroutine costs more than a step.
	backlogBatch = 256
)

// backlog is where the loop leaves its steps. Putting never blocks: what finds no place is missed.
type backlog struct {
	// filling holds a token when there are many steps to take.
	filling chan struct{}
	limit   int

	mu      sync.Mutex
	waiting []item
	// spare is what was taken before, to be filled again.
	spare   []item
	begun   bool
	closed  bool
	missing uint64
	// gap counts the steps missed since the last one that found a place.
	gap uint64
}

// item is a step as far as it takes to check it.
type item struct {
	seq     uint64
	at      time.Time
	input   core.Input
	after   core.State
	effects []core.Effect
	// before is set where the history has to be taken up: on the first step, and behind missed ones.
	before *core.State
	missed uint64
}

func newBacklog(limit int) *backlog {
	return &backlog{filling: make(chan struct{}, 1), limit: limit}
}

// put adds a step; it tells whether it is the first one.
func (b *backlog) put(step *shell.Step) (first bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed || len(b.waiting) >= b.limit {
		b.missing++
		b.gap++
		return false
	}
	added := item{
		seq: step.Seq, at: step.Time, input: step.Input, after: step.After, effects: step.Effects,
	}
	if first = !b.begun; first || b.gap > 0 {
		before := step.Before
		added.before, added.missed = &before, b.gap
		b.begun, b.gap = true, 0
	}
	b.waiting = append(b.waiting, added)
	if len(b.waiting) == backlogBatch {
		select {
		case b.filling <- struct{}{}:
		default:
		}
	}
	return first
}

// take gives what waits. It is the caller's until the next call.
func (b *backlog) take() []item {
	b.mu.Lock()
	defer b.mu.Unlock()
	taken := b.waiting
	clear(b.spare)
	if len(taken) == 0 && cap(b.spare) > backlogBatch { // a burst is over: let go of its memory
		b.spare = nil
	}
	b.waiting, b.spare = b.spare[:0], taken
	return taken
}

func (b *backlog) miss(steps uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.missing += steps
}

func (b *backlog) missed() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.missing
}

// close takes nothing more in. It tells whether there is somebody to end.
func (b *backlog) close() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	was := b.closed
	b.closed = true
	return b.begun && !was
}
