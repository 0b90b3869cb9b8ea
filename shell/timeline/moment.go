package timeline

import (
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core/projection"
)

// Moment is what is known after one step. It does not change any more.
type Moment struct {
	projection.Projection
	// Seq is the number of the step; 0 before the first.
	Seq uint64
	// Began is when the Timeline was made.
	Began time.Time
	// Problems are the newest of each kind.
	Problems Problems
	// Sources are where the inputs come from, and what is wrong there; empty if nobody tells.
	Sources []Source
}

// ViewAge is how old the view of the pods is. While there was none yet, it counts from the
// beginning, so that a store that never comes is as visible as one that is lost.
func (m Moment) ViewAge(now time.Time) time.Duration {
	seen := m.StoreSeen
	if seen.IsZero() {
		seen = m.Began
	}
	return max(0, now.Sub(seen))
}
