package invariant

import (
	"slices"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// checkPurity: the older state says what it said when it was new, and the same input leads from it
// to the same state and effects again (I9).
func (t *transition) checkPurity() {
	again, effects := core.Reduce(t.before, t.input)
	afterText := Fingerprint(t.after)
	if Fingerprint(again) != afterText {
		t.violate("I9", "the same input leads to another state")
	}
	if !slices.EqualFunc(effects, t.effects, sameEffect) {
		t.violate("I9", "the same input has other effects")
	}
	if Fingerprint(t.before) != t.beforeText {
		t.violate("I9", "the older state has changed")
	}
	t.beforeText = afterText
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
	return sameFleet(a.Fleet, b.Fleet) && a.Generation == b.Generation && a.Trigger == b.Trigger &&
		a.Replay == b.Replay && a.CredentialsChanged == b.CredentialsChanged &&
		slices.Equal(a.Added, b.Added) && slices.Equal(a.Updated, b.Updated) &&
		slices.Equal(a.Removed, b.Removed)
}
