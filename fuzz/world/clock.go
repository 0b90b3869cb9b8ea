package world

import (
	"slices"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// happening is something that comes by itself at its time.
type happening struct {
	at   time.Duration
	kind happeningKind
	// Whom it is about: a slot and the pod's UID, or the number of a store, a probe or a timer.
	slot int
	uid  string
	id   uint64
	// pod is what a store is going to hold; nil for none.
	pod *core.Pod
	// credentials are, by their place in the cast, those that an agent accepts from then on.
	credentials int
	// stopped marks a timer that was stopped while it fired.
	stopped bool
}

type happeningKind uint8

const (
	podMovesOn happeningKind = iota
	podGoes
	podHeals
	agentsLearn
	storeSyncs
	storeHears
	// Those before are the cluster's, those behind ours.
	shellHears
	shellLooks
	storeRetries
	probeEnds
	timerFires
	tick
)

// clock is virtual time: it stands still until somebody lets it go on.
type clock struct {
	now     time.Duration
	pending []happening
}

func (c *clock) restart() { c.now, c.pending = 0, c.pending[:0] }

// after has something happen later.
func (c *clock) after(delay time.Duration, h happening) {
	h.at = c.now + delay
	c.pending = append(c.pending, h)
}

// next takes what happens next, no later than at the time given; of things at the same time, what
// was planned first.
func (c *clock) next(until time.Duration) (happening, bool) {
	first := -1
	for i := range c.pending {
		if at := c.pending[i].at; at <= until && (first < 0 || at < c.pending[first].at) {
			first = i
		}
	}
	if first < 0 {
		c.now = until
		return happening{}, false
	}
	h := c.pending[first]
	c.pending = slices.Delete(c.pending, first, first+1)
	c.now = max(c.now, h.at)
	return h, true
}

// clusterMoves tells whether the cluster has yet to come to rest.
func (c *clock) clusterMoves() bool {
	return slices.ContainsFunc(c.pending, func(h happening) bool { return h.kind <= storeHears })
}
