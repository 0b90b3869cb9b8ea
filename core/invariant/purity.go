package invariant

import (
	"slices"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// checkPurity: the older state says what it said when it was new, and the same input leads from it
// to the same state and effects again (I9).
func (m *Monitor) checkPurity() {
	t := &m.step
	again, effects := core.Reduce(m.before, t.input)
	if !slices.EqualFunc(effects, t.effects, sameEffect) {
		t.violate("I9", "the same input has other effects")
	}
	m.scratch = appendFingerprint(m.scratch[:0], m.before)
	if string(m.scratch) != string(m.past) {
		t.violate("I9", "the older state has changed")
	}
	m.past = appendFingerprint(m.past[:0], t.after)
	m.scratch = appendFingerprint(m.scratch[:0], again)
	if string(m.scratch) != string(m.past) {
		t.violate("I9", "the same input leads to another state")
	}
}

func sameEffect(a, b core.Effect) bool {
	was, isDiscovered := discoveredOf(a)
	is, isToo := discoveredOf(b)
	if isDiscovered && isToo {
		return sameDiscovered(was, is)
	}
	return !isDiscovered && !isToo && a == b
}

func discoveredOf(effect core.Effect) (core.HAProxyPodsDiscovered, bool) {
	publish, _ := effect.(core.Publish)
	discovered, is := publish.Event.(core.HAProxyPodsDiscovered)
	return discovered, is
}

func sameDiscovered(a, b core.HAProxyPodsDiscovered) bool {
	return a.Fleet.Len() == b.Fleet.Len() && a.Fleet.Credentials() == b.Fleet.Credentials() &&
		sameEndpoints(a.Fleet, b.Fleet) && a.Generation == b.Generation && a.Trigger == b.Trigger &&
		a.Replay == b.Replay && a.CredentialsChanged == b.CredentialsChanged &&
		slices.Equal(a.Added, b.Added) && slices.Equal(a.Updated, b.Updated) &&
		slices.Equal(a.Removed, b.Removed)
}
