// Package timeline holds the newest projection of a component for those who look at it: pages,
// scrapes, debuggers. Looking is reading a pointer: it costs the same however many pods there are,
// and no step waits for it (R14a).
//
// shell/metrics and shell/status have one each; programs that show discovery in another way make
// their own:
//
//	times := timeline.New()
//	component := shell.New(bus, logger, shell.WithObserver(times))
package timeline

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell"
)

// Timeline is the shell.Observer that folds the projection. Its other methods are safe for
// concurrent use.
type Timeline struct {
	newest atomic.Pointer[entry]
	// writing orders those who append: the component's loop. Nobody who looks takes it.
	writing sync.Mutex
	contact atomic.Pointer[func() time.Time]
	sources atomic.Pointer[func() []Source]
}

// entry is a moment, and the way to the one after it. Entries are reachable only from older ones,
// so that what nobody follows any more is collected.
type entry struct {
	moment Moment
	next   *entry        // to be read once done is closed
	done   chan struct{} // closed when there is a next one
}

// New makes a Timeline that begins now.
func New() *Timeline {
	t := &Timeline{}
	t.newest.Store(&entry{moment: Moment{Began: time.Now()}, done: make(chan struct{})})
	return t
}

// FollowStore lets a source of pods that knows better say when its view was last up to date: the
// last contact with the API server, for instance. Without it, that is the last complete read of a
// store that has synced. contact must not block; its zero time means never.
func (t *Timeline) FollowStore(contact func() time.Time) { t.contact.Store(&contact) }

// Now is what is known at present: the state after the newest step, and what belongs to exactly
// that state.
func (t *Timeline) Now() Moment { return t.complete(t.newest.Load().moment) }

// complete adds what the sources tell.
func (t *Timeline) complete(moment Moment) Moment {
	if contact := t.contact.Load(); contact != nil && *contact != nil {
		moment.StoreSeen = (*contact)()
	}
	if sources := t.sources.Load(); sources != nil && *sources != nil {
		moment.Sources = (*sources)()
	}
	return moment
}

// Taken implements shell.Observer.
func (t *Timeline) Taken(time.Time, core.Input) {}

// Reduced implements shell.Observer.
func (t *Timeline) Reduced(step shell.Step) {
	t.append(func(m *Moment) {
		m.Projection, m.Seq = m.With(step.Step, step.Time), step.Seq
	})
}

// Problem implements shell.Observer.
func (t *Timeline) Problem(problem shell.Problem) {
	t.append(func(m *Moment) {
		m.Touched = nil
		m.Problems = m.Problems.with(problem, time.Now())
	})
}

func (t *Timeline) append(change func(*Moment)) {
	t.writing.Lock()
	defer t.writing.Unlock()
	last := t.newest.Load()
	next := &entry{moment: last.moment, done: make(chan struct{})}
	change(&next.moment)
	last.next = next
	t.newest.Store(next)
	close(last.done)
}
