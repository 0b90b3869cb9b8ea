package world

import (
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/core/intake"
	"github.com/haproxy-discovery/haproxy-discovery/fuzz/oracle"
	"github.com/haproxy-discovery/haproxy-discovery/fuzz/story"
)

// configure validates the present config once more.
func (w *World) configure() {
	w.configured = true
	w.step(w.config)
}

// rotate brings the next of the credentials. Agents that are late learn them afterwards, agents
// that are early have dropped the old ones by then.
func (w *World) rotate(c *choice) {
	next := (w.credentials + 1 + c.of(2)) % len(story.Credentials)
	for at := range w.cluster.slots {
		s := &w.cluster.slots[at]
		if s.pod == nil || s.agent.accepts == everybody {
			continue
		}
		if w.noise.below(2) == 0 {
			s.agent.accepts = 1 << next
			continue
		}
		w.clock.after(w.while(time.Second),
			happening{kind: agentsLearn, slot: at, uid: s.pod.UID, credentials: next})
	}
	w.credentials = next
	w.authorize()
}

func (w *World) authorize() {
	w.authorized = true
	w.step(core.CredentialsUpdated{Credentials: story.Credentials[w.credentials]})
}

// learn has an agent accept other credentials from now on.
func (w *World) learn(h happening) {
	if s := &w.cluster.slots[h.slot]; s.pod != nil && s.pod.UID == h.uid {
		s.agent.accepts = 1 << h.credentials
	}
}

// setStore brings a pod store: one that has synced, or one that fills up, and says so or cannot.
func (w *World) setStore(sync core.Sync) {
	w.storeSet = true
	w.stores++
	w.storeSays, w.storeComplete = sync, sync == core.SyncDone
	for at := range w.cluster.slots {
		s := &w.cluster.slots[at]
		s.hidden, s.told = !w.storeComplete && w.noise.below(3) == 1, false
	}
	if !w.storeComplete {
		w.clock.after(w.while(time.Second), happening{kind: storeSyncs, id: w.stores})
	}
	w.look(intake.StoreSet{})
}

// storeFilled ends the initial sync of a store. Of one that says so itself, nobody else may tell.
func (w *World) storeFilled(h happening) {
	if h.id != w.stores {
		return
	}
	if w.storeSays == core.SyncPending && w.noise.below(4) == 3 {
		w.fillStore()
		w.look(intake.DriftTick{})
		return
	}
	w.completeSync()
}

// fillStore has the store hold everything.
func (w *World) fillStore() {
	for at := range w.cluster.slots {
		w.cluster.slots[at].hidden = false
	}
	w.storeComplete = true
	if w.storeSays == core.SyncPending {
		w.storeSays = core.SyncDone
	}
}

func (w *World) completeSync() {
	w.fillStore()
	w.look(intake.SyncComplete{})
}

// changeConfig moves the port, or selects other pods, or both, or nothing.
func (w *World) changeConfig(c *choice) {
	w.config = core.ConfigValidated{
		AgentPort:   ports[c.of(len(ports))],
		PodSelector: oracle.Selectors[c.of(len(oracle.Selectors))],
	}
	w.configure()
}

// drift re-reads the store; a stale read gives what it held some time ago.
func (w *World) drift() { w.look(intake.DriftTick{}) }

func (w *World) driftStale() {
	w.stale = w.storeSet
	w.drift()
}

// lead makes this replica the leader: a new consumer starts and knows nothing.
func (w *World) lead() {
	w.consumer.restart()
	w.step(core.BecameLeader{})
}
