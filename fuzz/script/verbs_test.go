package script

import (
	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// The verbs. What a verb needs follows it, a byte for each word; at the end of the bytes, zeros.
const (
	change    = iota // a pod comes or changes, and its key is named
	remove           // a pod goes, and its key is named
	drift            // the store is read
	answer           // an agent answers with a version
	finish           // a probe ends in any way
	fire             // an armed timer fires
	quietly          // a pod comes, changes or goes, and nobody is told
	index            // pods are named, as they are or not
	misread          // the store is read, wrongly
	configure        // ConfigValidated
	rotate           // CredentialsUpdated
	setStore         // PodStoreSet
	sync             // ResourceSyncComplete
	lead             // BecameLeader
	stale            // a number of a probe or a timer, of the past or of the future
	babble           // an input that makes no sense
)

// A verb gives its input; false where what it is about is not there.
var verbs = [...]func(*script, core.State) (core.Input, bool){
	change: func(s *script, _ core.State) (core.Input, bool) {
		pod := s.pod()
		s.place(pod)
		return named([]*core.Pod{pod}, nil), true
	},
	remove: func(s *script, _ core.State) (core.Input, bool) {
		pod, found := s.world[pick(s, keys)]
		if !found {
			return nil, false
		}
		delete(s.world, pod.Key)
		return named(nil, []core.PodRef{{Key: pod.Key, UID: pod.UID}}), true
	},
	drift: func(s *script, _ core.State) (core.Input, bool) {
		return core.DriftPreventionTriggered{Pods: s.store()}, true
	},
	answer: func(s *script, state core.State) (core.Input, bool) {
		return s.finished(state, outcomes[:2])
	},
	finish: func(s *script, state core.State) (core.Input, bool) {
		return s.finished(state, outcomes)
	},
	fire: func(s *script, state core.State) (core.Input, bool) {
		timers := state.Timers()
		if len(timers) == 0 {
			return nil, false
		}
		return core.TimerFired{Timer: pick(s, timers)}, true
	},
	quietly: func(s *script, _ core.State) (core.Input, bool) {
		pod := s.pod()
		s.place(pod)
		if pod != nil && pod.Terminating {
			delete(s.world, pod.Key)
		}
		return nil, false
	},
	index: func(s *script, _ core.State) (core.Input, bool) {
		var deleted []core.PodRef
		for range s.next() % 3 {
			pod := s.pod()
			if pod != nil {
				deleted = append(deleted, core.PodRef{Key: pod.Key, UID: pod.UID})
			}
		}
		return named(s.pods(), deleted), true
	},
	misread: func(s *script, _ core.State) (core.Input, bool) {
		return core.DriftPreventionTriggered{Pods: s.pods()}, true
	},
	configure: func(s *script, _ core.State) (core.Input, bool) {
		return core.ConfigValidated{AgentPort: pick(s, ports), PodSelector: pick(s, selectors)}, true
	},
	rotate: func(s *script, _ core.State) (core.Input, bool) {
		return core.CredentialsUpdated{Credentials: pick(s, credentials)}, true
	},
	setStore: func(s *script, _ core.State) (core.Input, bool) {
		return core.PodStoreSet{Synced: pick(s, syncs), Pods: s.read()}, true
	},
	sync: func(s *script, _ core.State) (core.Input, bool) {
		return core.ResourceSyncComplete{Resource: core.HAProxyPods, Pods: s.read()}, true
	},
	lead: func(*script, core.State) (core.Input, bool) { return core.BecameLeader{}, true },
	stale: func(s *script, _ core.State) (core.Input, bool) {
		number := s.next()
		if number >= 128 {
			return core.ProbeFinished{
				Probe: core.ProbeID(number - 128), Outcome: pick(s, outcomes),
			}, true
		}
		return core.TimerFired{Timer: core.TimerID(number)}, true
	},
	babble: func(s *script, _ core.State) (core.Input, bool) { return pick(s, nonsense), true },
}

func named(upserted []*core.Pod, deleted []core.PodRef) core.Input {
	return core.ResourceIndexUpdated{
		Resource: core.HAProxyPods, Upserted: upserted, Deleted: deleted,
	}
}

// finished ends one of the outstanding probes.
func (s *script) finished(state core.State, outcomes []core.Outcome) (core.Input, bool) {
	probes := state.Probes()
	if len(probes) == 0 {
		return nil, false
	}
	return core.ProbeFinished{Probe: pick(s, probes).Probe, Outcome: pick(s, outcomes)}, true
}
