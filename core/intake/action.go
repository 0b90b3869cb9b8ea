package intake

import (
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// Action is what has to be done next. Plain data; the set is closed.
type Action interface{ isAction() }

// ReadList reads the whole store; a ListRead has to follow. Store is the number of the store that is
// set: one that was set since makes the answer worthless, and it is ignored.
type ReadList struct{ Store uint64 }

// ReadPods reads single pods, in the order of their keys; a PodsRead has to follow.
type ReadPods struct {
	Store uint64
	Keys  []core.PodKey
}

// Tell hands an input to core.
type Tell struct{ Input core.Input }

// StartRetry starts a timer: a RetryFired has to follow after the time given.
type StartRetry struct{ After time.Duration }

func (ReadList) isAction()   {}
func (ReadPods) isAction()   {}
func (Tell) isAction()       {}
func (StartRetry) isAction() {}
