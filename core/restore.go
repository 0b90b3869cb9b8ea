package core

import (
	"errors"
	"fmt"
)

// ErrSnapshot is wrapped by all errors of Restore.
var ErrSnapshot = errors.New("inconsistent snapshot")

// maxNumber leaves room to count on.
const maxNumber = 1 << 62

// Restore makes the state that a snapshot was taken of: the same inputs lead from both to the same
// effects (R35). A snapshot that no state gives is refused, with an error that names what is wrong
// in it. Pods are shared with the snapshot.
func Restore(snapshot Snapshot) (State, error) {
	r := &restoration{from: snapshot}
	for _, part := range []func() error{
		r.settings, r.gate, r.probes, r.pods, r.claims, r.numbers, r.publication,
	} {
		if err := part(); err != nil {
			return State{}, fmt.Errorf("%w: %w", ErrSnapshot, err)
		}
	}
	return r.state, nil
}

// restoration is a state in the making.
type restoration struct {
	from  Snapshot
	state State
	// inFlight are the probes that are not cancelled, until their candidates have claimed them.
	inFlight map[Identity]*outstanding
}

func (r *restoration) settings() error {
	if err := r.from.Config.Validate(); err != nil {
		return fmt.Errorf("config: %w", err)
	}
	r.state.config = r.from.Config.withDefaults()
	if r.from.Settings != nil {
		settings, err := parseSettings(*r.from.Settings)
		if err != nil {
			return fmt.Errorf("settings: %w", err)
		}
		r.state.settings = settings
	}
	r.state.credentials = r.from.Credentials
	store := r.from.Store
	r.state.store = storeKnowledge{store.Set, store.Synced, store.SyncSeen}
	return nil
}

// gate checks that it is open if all four are known, and only after they were (R6): a store that is
// swapped in later need not have synced.
func (r *restoration) gate() error {
	known := r.from.Settings != nil && !r.from.Credentials.IsZero() && r.from.Store.Set
	switch {
	case r.from.Store.Synced && !r.from.Store.Set:
		return errors.New("store: it has synced and is not set")
	case r.from.GateOpen && !known:
		return errors.New("gate: it is open before settings, credentials and store are known")
	case !r.from.GateOpen && known && r.from.Store.Synced:
		return errors.New("gate: it is closed though all that it waits for is known")
	}
	r.state.gateOpen = r.from.GateOpen
	return nil
}

// probes takes in those outstanding, which have to stay within their bounds (R21).
func (r *restoration) probes() error {
	r.inFlight = make(map[Identity]*outstanding)
	for _, p := range r.from.Probes {
		probe := &outstanding{p.Probe, p.Identity, p.Credentials, p.Retry, p.Cancelled}
		switch n := len(r.state.probes); {
		case !r.from.GateOpen:
			return fmt.Errorf("probe %d: it has started before the gate opened", p.Probe)
		case p.Probe == 0 || p.Probe > r.from.LastProbe:
			return fmt.Errorf("probe %d: its number is not between 1 and %d", p.Probe, r.from.LastProbe)
		case n > 0 && r.state.probes[n-1].id >= p.Probe:
			return fmt.Errorf("probe %d: it is not in the order of the numbers", p.Probe)
		case p.Credentials.IsZero():
			return fmt.Errorf("probe %d: it has no credentials", p.Probe)
		}
		r.state.probes = append(r.state.probes, probe)
		if !p.Cancelled {
			if r.inFlight[p.Identity] != nil {
				return fmt.Errorf("probe %d: its pod has another one in flight", p.Probe)
			}
			r.inFlight[p.Identity] = probe
		}
	}
	config := r.state.config
	if count := len(r.state.probes); count > config.MaxProbes {
		return fmt.Errorf("probes: %d are outstanding, more than %d", count, config.MaxProbes)
	}
	if count := r.state.probes.retries(); count > config.MaxRetries {
		return fmt.Errorf("probes: %d retries are outstanding, more than %d", count, config.MaxRetries)
	}
	return nil
}

func (r *restoration) pods() error {
	for i, p := range r.from.Pods {
		if !isPod(p.Pod) {
			return fmt.Errorf("pod %d of the list: it has no name or no UID", i+1)
		}
		if i > 0 && r.from.Pods[i-1].Pod.Key.Compare(p.Pod.Key) >= 0 {
			return fmt.Errorf("pod %q: it is not in the order of the keys", p.Pod.Key)
		}
		if err := r.pod(p); err != nil {
			return fmt.Errorf("pod %q: %w", p.Pod.Key, err)
		}
	}
	return nil
}

// pod judges a pod, and restores what it has reached as a candidate.
func (r *restoration) pod(p PodSnapshot) error {
	key := p.Pod.Key
	st := &standing{pod: p.Pod}
	if r.state.gateOpen {
		st.verdict = r.state.settings.judge(p.Pod)
	}
	if st.verdict.Kind != IsCandidate {
		if p != (PodSnapshot{Pod: p.Pod}) {
			return fmt.Errorf("it is %s and has what only a candidate has", st.verdict.Kind)
		}
		r.stand(st)
		return nil
	}
	st.identity = identityOf(p.Pod, r.state.config.AgentScheme, r.state.settings.validated.AgentPort)
	st.attempts, st.judged, st.place, st.timer = p.Attempts, p.Retry, p.Place, p.RetryTimer
	if probe := r.inFlight[st.identity]; probe != nil {
		st.probe = probe.id
		if probe.retry != st.judged {
			return fmt.Errorf("it and probe %d disagree on whether that is a retry", probe.id)
		}
		delete(r.inFlight, st.identity)
	}
	switch {
	case !p.Admitted && (p.Published || p.Version != Version{}):
		return errors.New("it is not admitted and has a version or is published")
	case p.Attempts < 0 || p.Attempts > 0 && !p.Retry || p.Admitted && !p.Retry:
		return errors.New("what is said of its attempts does not fit together")
	case p.Published && r.from.Generation == 0:
		return errors.New("it is published before the first publication")
	}
	if p.Admitted {
		st.member = &member{identity: st.identity, version: p.Version}
		r.state.admitted = r.state.admitted.Set(key, st.member)
		if !p.Published {
			r.state.unpublished = r.state.unpublished.Set(key, key)
		}
	}
	r.stand(st)
	return r.wait(st)
}

func (r *restoration) stand(st *standing) {
	s := step{State: r.state}
	s.setStanding(st)
	r.state = s.State
}

// wait puts a candidate where it waits: in one place, and only if it has no version yet (I4, I8).
func (r *restoration) wait(st *standing) error {
	key, waits := st.pod.Key, 0
	if st.probe != 0 {
		waits++
	}
	if st.place != 0 {
		waits++
		if r.state.firsts.Has(st.place) || r.state.retries.Has(st.place) {
			return fmt.Errorf("its place %d in the queue is taken", st.place)
		}
		if st.judged {
			r.state.retries = r.state.retries.Set(st.place, key)
		} else {
			r.state.firsts = r.state.firsts.Set(st.place, key)
		}
	}
	if st.timer != 0 {
		waits++
		if r.state.retryTimers.Has(uint64(st.timer)) {
			return fmt.Errorf("its retry timer %d is another pod's", st.timer)
		}
		r.state.retryTimers = r.state.retryTimers.Set(uint64(st.timer), key)
	}
	switch {
	case st.place > r.from.LastPlace:
		return fmt.Errorf("its place %d in the queue is beyond the last, %d", st.place, r.from.LastPlace)
	case st.settled() && (waits > 0 || st.attempts > 0):
		return errors.New("its version is known, and yet it waits for a probe")
	case !st.settled() && waits != 1:
		return fmt.Errorf("it waits in %d of queue, flight and retry timers instead of in one", waits)
	case st.timer != 0 && !st.judged:
		return errors.New("it has a retry timer before its first attempt")
	}
	return nil
}

// claims checks that each probe in flight is that of a candidate.
func (r *restoration) claims() error {
	for _, probe := range r.state.probes { // in order, for the sake of the error
		if r.inFlight[probe.identity] == probe {
			return fmt.Errorf("probe %d: it is not cancelled, and no candidate's", probe.id)
		}
	}
	return nil
}

// numbers restores the publication timers and the last numbers given away.
func (r *restoration) numbers() error {
	r.state.publishTimer, r.state.firstPublishTimer = r.from.PublishTimer, r.from.FirstPublishTimer
	r.state.lastPlace, r.state.lastProbe = r.from.LastPlace, r.from.LastProbe
	r.state.lastTimer = r.from.LastTimer
	if maxNumber < max(r.from.LastPlace, uint64(r.from.LastProbe), uint64(r.from.LastTimer),
		r.from.Generation) {
		return errors.New("numbers: one of them is so large that counting cannot go on from it")
	}
	var before TimerID
	for _, timer := range r.state.Timers() {
		if timer > r.from.LastTimer {
			return fmt.Errorf("timer %d: it is beyond the last, %d", timer, r.from.LastTimer)
		}
		if timer == before {
			return fmt.Errorf("timer %d: it has two purposes", timer)
		}
		before = timer
	}
	if !r.from.GateOpen && (r.from.LastPlace > 0 || r.from.LastProbe > 0 || r.from.LastTimer > 0) {
		return errors.New("numbers: some were given away before the gate opened")
	}
	return nil
}

// publication restores what was last told: the admitted endpoints without the unpublished ones,
// since whoever leaves the fleet is retired at once (R14).
func (r *restoration) publication() error {
	s := &r.state
	switch {
	case !s.gateOpen && r.from.Generation > 0:
		return errors.New("generation: something is published before the gate opened")
	case (s.publishTimer != 0) != (s.unpublished.Len() > 0):
		return errors.New("publish timer: it is not armed exactly while admissions are unpublished")
	case (s.firstPublishTimer != 0) != (s.gateOpen && r.from.Generation == 0):
		return errors.New("first publish timer: it is not armed exactly from the gate's opening to " +
			"the first publication")
	}
	if r.from.Generation == 0 {
		return nil
	}
	told := s.admitted
	for key := range s.unpublished.All() {
		told = told.Delete(key)
	}
	s.published = &publication{
		fleet: Fleet{members: told, credentials: s.credentials}, generation: r.from.Generation,
	}
	return nil
}
