package invariant

import (
	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// I7, generations.

func (t *transition) checkGeneration(e core.HAProxyPodsDiscovered) {
	if e.Generation != t.published.generation+1 {
		t.violate("I7", "generation %d after %d", e.Generation, t.published.generation)
	}
	if want := core.TriggerOf(t.input); e.Trigger != want {
		t.violate("I7", "trigger %q instead of %q", e.Trigger, want)
	}
}

// replay: the last publication once more, to a new leader (R19).
func (t *transition) replay(e core.HAProxyPodsDiscovered) {
	t.replays++
	last := t.published
	if !last.told {
		t.violate("R19", "a replay before the first publication")
		return
	}
	if e.Generation != last.generation || !t.sameFleet(e.Fleet, last.fleet) {
		t.violate("I7", "a replay of generation %d differs from generation %d",
			e.Generation, last.generation)
	}
	if len(e.Added)+len(e.Updated)+len(e.Removed) > 0 || e.CredentialsChanged ||
		e.Trigger != core.TriggerBecameLeader {
		t.violate("R19", "a replay tells news")
	}
}

// checkTold: the state remembers what was told.
func (t *transition) checkTold() {
	fleet, generation, told := t.after.Published()
	if told != t.published.told || generation != t.published.generation ||
		fleet.Len() != t.published.fleet.Len() ||
		fleet.Credentials() != t.published.fleet.Credentials() {
		t.violate("I7", "the state has published %d endpoints as generation %d instead of %d as %d",
			fleet.Len(), generation, t.published.fleet.Len(), t.published.generation)
	}
	if !told || !t.whole {
		return
	}
	for i := range t.subjects {
		s := &t.subjects[i]
		if is, holds := fleet.Get(s.key); holds != s.isTold || is != s.told {
			t.violate("I7", "%s is remembered as published, but not as it was told", s.key)
		}
	}
}

// sameFleet compares what costs little; for a whole look, everything.
func (t *transition) sameFleet(a, b core.Fleet) bool {
	return a.Len() == b.Len() && a.Credentials() == b.Credentials() &&
		(!t.whole || sameEndpoints(a, b))
}

// sameEndpoints compares fleets of the same length.
func sameEndpoints(a, b core.Fleet) bool {
	for endpoint := range a.All() {
		if other, found := b.Get(endpoint.Key()); !found || other != endpoint {
			return false
		}
	}
	return true
}
