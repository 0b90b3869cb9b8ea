package shell

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// inbox collects what the loop has to take in, in order of arrival. Putting never blocks. What only
// asks to look at the store again is kept once however often it comes, and named pods as a set:
// a flood of pod events cannot grow it beyond the number of pods.
type inbox struct {
	// wake holds a token while there may be something to take.
	wake chan struct{}

	mu      sync.Mutex
	closed  bool
	waiting []any
	named   map[core.PodKey]struct{}
	asked   map[any]bool
	// pinged is closed when the loop gets to the ping that waits; nil while none does.
	pinged chan struct{}
}

// What may wait in the inbox beside a core.Input.
type (
	readNamed struct{ keys []core.PodKey }
	readList  struct{ why listReason }
	swapStore struct{ store PodStore }
	// retryStore makes up for what could not be read.
	retryStore struct{}
	// ping asks the loop for a sign of life.
	ping struct{ answered chan struct{} }
)

// listReason says why the whole store is to be read.
type listReason uint8

const (
	driftTick listReason = iota
	syncComplete
)

func newInbox() *inbox {
	return &inbox{
		wake:  make(chan struct{}, 1),
		named: map[core.PodKey]struct{}{},
		asked: map[any]bool{},
	}
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

func (b *inbox) putNamed(keys []core.PodKey) {
	b.put(func() {
		for _, key := range keys {
			b.named[key] = struct{}{}
		}
		if len(keys) > 0 {
			b.ask(readNamed{}, "named")
		}
	})
}

func (b *inbox) putList(why listReason) { b.put(func() { b.ask(readList{why}, why) }) }

func (b *inbox) putRetry() { b.put(func() { b.waiting = append(b.waiting, retryStore{}) }) }

func (b *inbox) putProblem(problem Problem) {
	b.put(func() { b.ask(problem, problemText(problem)) })
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

// putStore keeps each swap in its place: a sync that was told before it is about another store than
// one that is told after it, so later requests do not join earlier ones.
func (b *inbox) putStore(store PodStore) {
	b.put(func() {
		clear(b.asked)
		b.waiting = append(b.waiting, swapStore{store})
	})
}

// close lets nothing more in.
func (b *inbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed, b.waiting = true, nil
	clear(b.named)
}

// ask appends a request unless an equal one waits already.
func (b *inbox) ask(request, kind any) {
	if !b.asked[kind] {
		b.asked[kind] = true
		b.waiting = append(b.waiting, request)
	}
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
	case readNamed:
		request.keys = slices.SortedFunc(maps.Keys(b.named), core.PodKey.Compare)
		clear(b.named)
		delete(b.asked, "named")
		return request
	case readList:
		delete(b.asked, request.why)
	case Problem:
		delete(b.asked, problemText(request))
	case ping:
		b.pinged = nil
	}
	return next
}
