package core

import "fmt"

// State is everything that discovery knows. It is an immutable value: Reduce returns a new one that
// shares with the old one whatever did not change, and the old one stays valid for ever. Compare
// states by what they say (see Standings and the other questions), not with reflect.DeepEqual.
type State struct {
	config Config

	// What the gate waits for (R6).
	settings    *settings
	credentials Credentials
	store       storeKnowledge
	gateOpen    bool

	// standings holds every pod of the store; unsettled the keys of those that a full pass has to
	// look at: rejected ones and candidates without an admission that is final.
	standings podMap[*standing]
	unsettled podMap[PodKey]

	// admitted is the fleet as it is now, published the one last told; unpublished are the keys of
	// the endpoints in which they differ. Retirements are published at once, so the published
	// endpoints are always a part of the admitted ones.
	admitted    podMap[*member]
	published   *publication
	unpublished podMap[PodKey]

	// The probe queue: first attempts, retries, and the probes outstanding, cancelled ones included.
	firsts  numberMap[PodKey]
	retries numberMap[PodKey]
	probes  outstandingProbes

	retryTimers       numberMap[PodKey]
	publishTimer      TimerID
	firstPublishTimer TimerID

	lastPlace uint64
	lastProbe ProbeID
	lastTimer TimerID
}

// storeKnowledge is what is known of the pod store.
type storeKnowledge struct {
	set bool
	// synced tells that absence from this store's list counts.
	synced bool
	// syncSeen tells that a sync was completed: one before the first store vouches for that store,
	// if it cannot say.
	syncSeen bool
}

// standing is where one pod stands. Immutable, like everything that a State points to.
type standing struct {
	pod     *Pod
	verdict Verdict

	// The rest belongs to candidates.
	identity Identity
	// member is the admission; nil while there is none.
	member *member
	// attempts counts the probes with a verdict since the pod became a candidate or the back-off
	// was reset.
	attempts int
	// judged tells that there was a verdict since the pod became a candidate: its next probe is a
	// retry (R21).
	judged bool
	// At most one of the three: the place in the queue, the probe in flight, the retry timer.
	place uint64
	probe ProbeID
	timer TimerID
}

// publication is what was last published.
type publication struct {
	fleet      Fleet
	generation uint64
}

// New is the state before any input. It panics where config.Validate returns an error.
func New(config Config) State {
	if err := config.Validate(); err != nil {
		panic(fmt.Sprintf("core.New: %v", err))
	}
	return State{config: config.withDefaults()}
}

// settled tells that a full pass has nothing to do for the pod.
func (s *standing) settled() bool {
	switch s.verdict.Kind {
	case Rejected:
		return false
	case IsCandidate:
		return s.member != nil && s.member.version.Known()
	default:
		return true
	}
}
