package world

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
	leaderChanges
	driftTicks
	nonsense
)

// has tells whether the run has the class.
func (w *World) has(c class) bool { return w.classes&c != 0 }

// drawClasses switches each class on or off, one half of them on average; none without a seed.
func drawClasses(seed uint64) class {
	if seed == 0 {
		return 0
	}
	// The finisher of SplitMix64: all bits depend on all bits.
	seed = (seed ^ seed>>30) * 0xbf58476d1ce4e5b9
	seed = (seed ^ seed>>27) * 0x94d049bb133111eb
	return class(seed ^ seed>>31)
}
