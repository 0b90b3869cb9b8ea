package timeline

import (
	"iter"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// Moment is what is known after one step. It does not change any more.
type Moment struct {
	// State is the state after the step, Seq its number; 0 before the first.
	State core.State
	Seq   uint64
	// Began is when the Timeline was made.
	Began time.Time
	// StoreSeen is when the pods were last known to be up to date; zero for never.
	StoreSeen time.Time
	// Problems are the newest of each kind.
	Problems Problems
	// Sources are where the inputs come from, and what is wrong there; empty if nobody tells.
	Sources []Source

	records map[core.PodKey]Record
	fires   map[core.TimerID]time.Time
}

// Pods iterates over all pods in the order of their keys.
func (m Moment) Pods() iter.Seq2[core.Standing, Record] {
	return func(yield func(core.Standing, Record) bool) {
		for standing := range m.State.Standings() {
			if !yield(standing, m.records[standing.Pod.Key]) {
				return
			}
		}
	}
}

// Record is what is remembered of a pod; zero for one that is not known.
func (m Moment) Record(key core.PodKey) Record { return m.records[key] }

// RetryAt is when a pod's agent is asked next; zero where no time is set: it is not asked, is
// waiting for a place, or is being asked.
func (m Moment) RetryAt(standing core.Standing) time.Time { return m.fires[standing.RetryTimer] }

// ViewAge is how old the view of the pods is. While there was none yet, it counts from the
// beginning, so that a store that never comes is as visible as one that is lost.
func (m Moment) ViewAge(now time.Time) time.Duration {
	seen := m.StoreSeen
	if seen.IsZero() {
		seen = m.Began
	}
	return max(0, now.Sub(seen))
}

// OldestUnadmitted is how long the candidate that has waited longest for its agent's first answer
// has done so; 0 if there is none.
func (m Moment) OldestUnadmitted(now time.Time) time.Duration {
	oldest := time.Duration(0)
	for standing := range m.State.Unsettled() {
		if since := m.records[standing.Pod.Key].UnadmittedSince; !since.IsZero() {
			oldest = max(oldest, now.Sub(since))
		}
	}
	return oldest
}
