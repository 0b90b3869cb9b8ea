// Package timeline remembers when things happened, for those who show discovery to people: since
// when a pod stands where it stands, when it is probed next, when its store was read last, what
// went wrong. The reducer has no clock; all of this comes from the times of the steps.
//
// A Timeline is an observer of one component. A step costs it no more than the pods that the step
// names; full passes, which happen once a minute, compare the two states. It keeps a record for
// each pod of the store and a time for each armed timer, no more.
//
//	times := timeline.New()
//	component := shell.New(bus, logger, shell.WithObserver(times))
//
// shell/metrics and shell/status are made from it.
package timeline

import (
	"maps"
	"sync"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell"
)

// Timeline is the shell.Observer that remembers. Its other methods are safe for concurrent use.
type Timeline struct {
	mu      sync.Mutex
	moment  Moment
	changed chan struct{} // closed with the next change; nil while nobody waits for it
	contact func() time.Time
	sources func() []Source
}

// New makes a Timeline that begins now.
func New() *Timeline {
	return &Timeline{moment: Moment{
		Began:   time.Now(),
		records: map[core.PodKey]Record{},
		fires:   map[core.TimerID]time.Time{},
	}}
}

// FollowStore lets a source of pods that knows better say when its view was last up to date: the
// last contact with the API server, for instance. Without it, that is the last complete read of a
// store that has synced. contact must not block; its zero time means never.
func (t *Timeline) FollowStore(contact func() time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.contact = contact
}

// Now is what is known at present: the state after the newest step, and the times that belong to
// exactly that state. It copies an entry for each pod.
func (t *Timeline) Now() Moment {
	moment, contact, sources := t.copy()
	// Not under the lock that a step of the component waits for: they are not ours.
	if contact != nil {
		moment.StoreSeen = contact()
	}
	if sources != nil {
		moment.Sources = sources()
	}
	return moment
}

func (t *Timeline) copy() (moment Moment, contact func() time.Time, sources func() []Source) {
	t.mu.Lock()
	defer t.mu.Unlock()
	moment = t.moment
	moment.records = maps.Clone(moment.records)
	moment.fires = maps.Clone(moment.fires)
	return moment, t.contact, t.sources
}

// Changed gives a channel that is closed after the next step or problem. Ask for it before Now to
// miss nothing.
func (t *Timeline) Changed() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.changed == nil {
		t.changed = make(chan struct{})
	}
	return t.changed
}

// Taken implements shell.Observer.
func (t *Timeline) Taken(time.Time, core.Input) {}

// Reduced implements shell.Observer.
func (t *Timeline) Reduced(step shell.Step) {
	t.mu.Lock()
	defer t.mu.Unlock()
	defer t.wake()
	m := &t.moment
	m.State, m.Seq = step.After, step.Seq
	switch in := step.Input.(type) {
	case core.ProbeFinished:
		if probe, found := step.Before.Probe(in.Probe); found {
			m.update(probe.Identity.Key(), step)
		}
	case core.TimerFired:
		delete(m.fires, in.Timer)
	case core.ResourceIndexUpdated:
		for _, pod := range in.Upserted {
			if pod != nil {
				m.update(pod.Key, step)
			}
		}
		for _, ref := range in.Deleted {
			m.update(ref.Key, step)
		}
	case core.PodStoreSet, core.ResourceSyncComplete, core.DriftPreventionTriggered:
		if step.After.StoreSet() && step.After.StoreSynced() {
			m.StoreSeen = step.Time
		}
		m.updateAll(step)
	case core.ConfigValidated, core.CredentialsUpdated:
		m.updateAll(step)
	}
	for _, effect := range step.Effects {
		switch e := effect.(type) {
		case core.StartTimer:
			m.fires[e.Timer] = step.Time.Add(e.After)
		case core.StopTimer:
			delete(m.fires, e.Timer)
		}
	}
}

// Problem implements shell.Observer.
func (t *Timeline) Problem(problem shell.Problem) {
	t.mu.Lock()
	defer t.mu.Unlock()
	defer t.wake()
	t.moment.Problems = t.moment.Problems.with(problem, time.Now())
}

func (t *Timeline) wake() {
	if t.changed != nil {
		close(t.changed)
		t.changed = nil
	}
}
