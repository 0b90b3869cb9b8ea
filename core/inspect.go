package core

import (
	"iter"
	"slices"
)

// The questions that can be asked of a State. They are for explaining and checking it; none is
// needed to run it.

// Standing tells where one pod stands.
type Standing struct {
	Pod     *Pod
	Verdict Verdict
	// Identity is set for candidates, like all that follows.
	Identity Identity
	// Admitted tells that the agent has answered; Version is then what it told, unknown included.
	Admitted bool
	Version  Version
	// Attempts counts the probes with a verdict since the pod became a candidate or the back-off
	// was reset; Retry tells that the next probe is no first attempt.
	Attempts int
	Retry    bool
	// At most one of these: waiting in the queue, a probe in flight, a retry timer armed.
	Queued     bool
	Probe      ProbeID
	RetryTimer TimerID
}

// OutstandingProbe is a probe whose ProbeFinished has not arrived.
type OutstandingProbe struct {
	Probe       ProbeID
	Identity    Identity
	Credentials Credentials
	Retry       bool
	Cancelled   bool
}

// Config is the configuration the state was made with, defaults filled in.
func (s State) Config() Config { return s.config }

// Settings is the newest valid ConfigValidated, if there was any.
func (s State) Settings() (ConfigValidated, bool) {
	if s.settings == nil {
		return ConfigValidated{}, false
	}
	return s.settings.validated, true
}

// Credentials are the newest ones; zero while there are none.
func (s State) Credentials() Credentials { return s.credentials }

// GateOpen tells whether config, credentials, pod store and its initial sync are all known.
func (s State) GateOpen() bool { return s.gateOpen }

// StoreSet tells whether there is a pod store, synced or not.
func (s State) StoreSet() bool { return s.store.set }

// StoreSynced tells whether absence from the present pod store's list counts.
func (s State) StoreSynced() bool { return s.store.synced }

// SyncSeen reports whether a sync was completed: it vouches for a first store that cannot say.
func (s State) SyncSeen() bool { return s.store.syncSeen }

// Len is the number of pods known.
func (s State) Len() int { return s.standings.Len() }

// Standing tells where a pod stands; false for a pod that is not known.
func (s State) Standing(key PodKey) (Standing, bool) {
	st, found := s.standings.Get(key)
	if !found {
		return Standing{}, false
	}
	return st.export(), true
}

// Changed lists, in the order of their keys, the pods that do not stand where they stood in an older
// state, those that have come or gone included. It compares pointers, pod by pod, and costs nothing
// where no pod has changed from the one state to the other.
func (s State) Changed(older State) []PodKey {
	return changedKeys(s.standings, older.standings, func(st *standing) PodKey { return st.pod.Key })
}

// Standings iterates over all pods in the order of their keys.
func (s State) Standings() iter.Seq[Standing] {
	standings := s.standings // the iterator keeps this, not the whole state
	return func(yield func(Standing) bool) {
		for st := range standings.All() {
			if !yield(st.export()) {
				return
			}
		}
	}
}

// Unsettled iterates, in the order of the keys, over the pods that are rejected or are candidates
// without an admission that is final.
func (s State) Unsettled() iter.Seq[Standing] {
	standings, unsettled := s.standings, s.unsettled
	return func(yield func(Standing) bool) {
		for key := range unsettled.All() {
			// A checker has to survive an index that names nobody.
			if st, found := standings.Get(key); found && !yield(st.export()) {
				return
			}
		}
	}
}

// UnsettledLen is their number.
func (s State) UnsettledLen() int { return s.unsettled.Len() }

// Admitted is the fleet as it is now, published or not.
func (s State) Admitted() Fleet { return Fleet{members: s.admitted, credentials: s.credentials} }

// Published is the last publication; false before the first.
func (s State) Published() (fleet Fleet, generation uint64, published bool) {
	if s.published == nil {
		return Fleet{}, 0, false
	}
	return s.published.fleet, s.published.generation, true
}

// Unpublished are the keys of the admitted endpoints that wait for the next publication.
func (s State) Unpublished() iter.Seq[PodKey] { return s.unpublished.All() }

// UnpublishedLen is their number.
func (s State) UnpublishedLen() int { return s.unpublished.Len() }

// Probes lists the outstanding probes by number.
func (s State) Probes() []OutstandingProbe {
	probes := make([]OutstandingProbe, 0, len(s.probes))
	return slices.AppendSeq(probes, s.Outstanding())
}

// Outstanding iterates over the outstanding probes by number.
func (s State) Outstanding() iter.Seq[OutstandingProbe] {
	probes := s.probes
	return func(yield func(OutstandingProbe) bool) {
		for _, p := range probes {
			if !yield(p.export()) {
				return
			}
		}
	}
}

// OutstandingLen is the number of outstanding probes.
func (s State) OutstandingLen() int { return len(s.probes) }

// Probe finds an outstanding probe by its number.
func (s State) Probe(id ProbeID) (OutstandingProbe, bool) {
	p, found := s.probes.find(id)
	if !found {
		return OutstandingProbe{}, false
	}
	return p.export(), true
}

// FirstAttempts are the candidates queued for a first attempt, head first.
func (s State) FirstAttempts() iter.Seq[PodKey] { return values(s.firsts) }

// Retries are the candidates queued for a retry, head first.
func (s State) Retries() iter.Seq[PodKey] { return values(s.retries) }

// QueueLen is the number of candidates in either queue.
func (s State) QueueLen() (firstAttempts, retries int) { return s.firsts.Len(), s.retries.Len() }

// RetryTimers iterates over the armed retry timers by number.
func (s State) RetryTimers() iter.Seq2[TimerID, PodKey] {
	timers := s.retryTimers
	return func(yield func(TimerID, PodKey) bool) {
		for id, key := range timers.All() {
			if !yield(TimerID(id), key) {
				return
			}
		}
	}
}

// RetryTimer finds the pod that an armed retry timer is for.
func (s State) RetryTimer(id TimerID) (PodKey, bool) { return s.retryTimers.Get(uint64(id)) }

// RetryTimersLen is the number of armed retry timers.
func (s State) RetryTimersLen() int { return s.retryTimers.Len() }

// PublishTimer is the armed PublishDelay timer, 0 if there is none.
func (s State) PublishTimer() TimerID { return s.publishTimer }

// FirstPublishTimer is the armed FirstPublishDelay timer, 0 if there is none.
func (s State) FirstPublishTimer() TimerID { return s.firstPublishTimer }

// Timers lists all armed timers by number.
func (s State) Timers() []TimerID {
	var timers []TimerID
	for id := range s.RetryTimers() {
		timers = append(timers, id)
	}
	for _, id := range []TimerID{s.publishTimer, s.firstPublishTimer} {
		if id != 0 {
			timers = append(timers, id)
		}
	}
	slices.Sort(timers)
	return timers
}

func (s *standing) export() Standing {
	standing := Standing{
		Pod: s.pod, Verdict: s.verdict, Identity: s.identity,
		Attempts: s.attempts, Retry: s.judged,
		Queued: s.place != 0, Probe: s.probe, RetryTimer: s.timer,
	}
	if s.member != nil {
		standing.Admitted, standing.Version = true, s.member.version
	}
	return standing
}

func (o *outstanding) export() OutstandingProbe {
	return OutstandingProbe{o.id, o.identity, o.credentials, o.retry, o.cancelled}
}

func values[V any](m numberMap[V]) iter.Seq[V] {
	return func(yield func(V) bool) {
		for _, v := range m.All() {
			if !yield(v) {
				return
			}
		}
	}
}
