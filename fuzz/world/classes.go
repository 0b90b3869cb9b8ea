package world

import "math/rand/v2"

// class is a class of events that a run has or has not. Leaving whole classes out makes those mixes
// likely that are rare if everything happens everywhere.
type class uint64

const (
	rollouts class = 1 << iota
	crashes
	evictions
	nodeLosses
	staticPods
	addressMoves
	addressReuse
	sharedAddresses
	relabelling
	malformedPods
	gracePeriods
	slowStarts
	duplicateNames
	slowInbox
	lostEvents
	staleLists
	badMoods
	outages
	unknownVersions
	rotations
	lateAgents
	lateAnswers
	lateTimers
	configChanges
	storeSwaps
	failingReads
	leaderChanges
	driftTicks
	nonsense
)

// has tells whether the run has the class.
func (w *World) has(c class) bool { return w.classes&c != 0 }

// classesOf switches each class on or off, one half of them on average; a quiet plan has none.
func classesOf(plan Plan) class {
	if plan.Classes == 0 {
		return 0
	}
	source := rand.NewPCG(uint64(plan.Classes), uint64(plan.Noise))
	return class(source.Uint64())
}
