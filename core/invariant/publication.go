package invariant

import (
	"slices"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// isAdmitted tells whether an identity's agent has answered in its present candidacy.
func (t *transition) isAdmitted(identity core.Identity) bool {
	lived := t.lives[identity.Key()]
	return lived.identity == identity && lived.answered
}

// discover examines a publication that is no replay against the one before.
func (t *transition) discover(e core.HAProxyPodsDiscovered) {
	var older publication
	if t.published != nil {
		older = *t.published
	}
	if e.Generation != older.generation+1 {
		t.violate("I7", "generation %d after %d", e.Generation, older.generation)
	}
	if want := triggerOf(t.input); e.Trigger != want {
		t.violate("I7", "trigger %q instead of %q", e.Trigger, want)
	}
	if e.Fleet.Credentials() != t.known.credentials {
		t.violate("I3", "generation %d has old credentials", e.Generation)
	}
	changed := t.published != nil && older.fleet.Credentials() != e.Fleet.Credentials()
	if e.CredentialsChanged != changed {
		t.violate("R16", "credentials changed: %t instead of %t", e.CredentialsChanged, changed)
	}
	t.checkLists(e, older.fleet)
	t.checkTerminations(e, older.fleet)
	t.checkEndpoints(e.Fleet)
	if !t.mayPublish(e, changed) {
		t.violate("R17", "generation %d is published before it is due", e.Generation)
	}
	t.publication = &e
	t.published = &publication{e.Fleet, e.Generation}
}

// checkLists: the lists are how the fleet differs from the one before.
func (t *transition) checkLists(e core.HAProxyPodsDiscovered, older core.Fleet) {
	if e.Fleet.Len() != older.Len()+len(e.Added)-len(e.Removed) {
		t.violate("I1", "%d endpoints became %d by %d added and %d removed",
			older.Len(), e.Fleet.Len(), len(e.Added), len(e.Removed))
	}
	if !t.thorough {
		return
	}
	diff := e.Fleet.DiffFrom(older)
	for _, list := range []struct {
		name      string
		got, want []core.PodKey
	}{
		{"added", e.Added, diff.Added},
		{"updated", e.Updated, diff.Updated},
		{"removed", e.Removed, diff.Removed},
	} {
		if !slices.Equal(list.got, list.want) {
			t.violate("I1", "%s are %v instead of %v", list.name, list.got, list.want)
		}
	}
}

// checkEndpoints: whom a fleet holds is a current candidate whose agent has answered (I2).
func (t *transition) checkEndpoints(fleet core.Fleet) {
	for _, key := range t.touched {
		endpoint, found := fleet.Get(key)
		switch lived := t.lives[key]; {
		case !found:
		case !t.isAdmitted(endpoint.Identity):
			t.violate("I2", "published without an answer in its present candidacy: %s",
				naming(endpoint.Identity))
		case endpoint.Version != lived.version:
			t.violate("I2", "%s is published with another version than its agent told", key)
		}
	}
}

// checkReplay: the last publication once more, to a new leader (R19, I7).
func (t *transition) checkReplay(e core.HAProxyPodsDiscovered) {
	t.replays++
	last := t.published
	if last == nil {
		t.violate("R19", "a replay before the first publication")
		return
	}
	if e.Generation != last.generation || e.Fleet.Len() != last.fleet.Len() ||
		e.Fleet.Credentials() != last.fleet.Credentials() ||
		t.thorough && !sameFleet(e.Fleet, last.fleet) {
		t.violate("I7", "a replay of generation %d differs from generation %d",
			e.Generation, last.generation)
	}
	if len(e.Added)+len(e.Updated)+len(e.Removed) > 0 || e.CredentialsChanged ||
		e.Trigger != core.TriggerBecameLeader {
		t.violate("R19", "a replay tells news")
	}
}

func sameFleet(a, b core.Fleet) bool {
	diff := a.DiffFrom(b)
	return a.Credentials() == b.Credentials() &&
		len(diff.Added)+len(diff.Updated)+len(diff.Removed) == 0
}

func triggerOf(input core.Input) core.Trigger {
	switch input.(type) {
	case core.ConfigValidated:
		return core.TriggerConfigValidated
	case core.CredentialsUpdated:
		return core.TriggerCredentialsUpdated
	case core.PodStoreSet:
		return core.TriggerPodStoreSet
	case core.ResourceIndexUpdated:
		return core.TriggerResourceIndexUpdated
	case core.ResourceSyncComplete:
		return core.TriggerResourceSyncComplete
	case core.BecameLeader:
		return core.TriggerBecameLeader
	case core.DriftPreventionTriggered:
		return core.TriggerDriftPreventionTriggered
	case core.ProbeFinished:
		return core.TriggerProbeFinished
	case core.TimerFired:
		return core.TriggerTimerFired
	default:
		return ""
	}
}
