package core

// Snapshot is a whole State as plain data, to be written down and restored elsewhere (R35). It holds
// what cannot be derived: a verdict follows from facts and settings, a queue from the places in it.
// Credentials are in it as they are; whoever writes a snapshot down must not write passwords.
type Snapshot struct {
	Config Config
	// Settings is nil before the first valid ConfigValidated.
	Settings    *ConfigValidated
	Credentials Credentials
	Store       StoreSnapshot
	GateOpen    bool
	// Pods are all that are known, in the order of their keys.
	Pods []PodSnapshot
	// Probes are the outstanding ones, in the order of their numbers. One that is not cancelled is
	// its pod's.
	Probes []OutstandingProbe
	// Generation is that of the last publication, 0 before the first. What was published are the
	// endpoints of the pods that are Published, with the Credentials.
	Generation        uint64
	PublishTimer      TimerID
	FirstPublishTimer TimerID
	// The last numbers that were given away.
	LastPlace uint64
	LastProbe ProbeID
	LastTimer TimerID
}

// StoreSnapshot is what is known of the pod store.
type StoreSnapshot struct {
	Set      bool
	Synced   bool
	SyncSeen bool
}

// PodSnapshot is one pod of a Snapshot. All but Pod belongs to candidates.
type PodSnapshot struct {
	Pod *Pod
	// Admitted reports whether the agent has answered, with Version; Published whether the last
	// publication holds the endpoint.
	Admitted  bool
	Version   Version
	Published bool
	// Attempts and Retry are as in Standing.
	Attempts int
	Retry    bool
	// Place is the one in the queue, RetryTimer the armed one; 0 for none.
	Place      uint64
	RetryTimer TimerID
}

// Snapshot gives the state as plain data. Pods are shared with the state, not copied.
func (s State) Snapshot() Snapshot {
	snapshot := Snapshot{
		Config:            s.config,
		Credentials:       s.credentials,
		Store:             StoreSnapshot{s.store.set, s.store.synced, s.store.syncSeen},
		GateOpen:          s.gateOpen,
		Pods:              make([]PodSnapshot, 0, s.standings.Len()),
		Probes:            s.Probes(),
		PublishTimer:      s.publishTimer,
		FirstPublishTimer: s.firstPublishTimer,
		LastPlace:         s.lastPlace,
		LastProbe:         s.lastProbe,
		LastTimer:         s.lastTimer,
	}
	if settings, known := s.Settings(); known {
		snapshot.Settings = &settings
	}
	if s.published != nil {
		snapshot.Generation = s.published.generation
	}
	for st := range s.standings.All() {
		pod := PodSnapshot{
			Pod: st.pod, Attempts: st.attempts, Retry: st.judged, Place: st.place, RetryTimer: st.timer,
		}
		if st.member != nil {
			pod.Admitted, pod.Version = true, st.member.version
			pod.Published = !s.unpublished.Has(st.pod.Key)
		}
		snapshot.Pods = append(snapshot.Pods, pod)
	}
	return snapshot
}
