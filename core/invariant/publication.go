package invariant

import (
	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// A publication is what most invariants are about: here it is followed, and held against the one
// before.

// discover examines a publication that is no replay.
func (t *transition) discover(e core.HAProxyPodsDiscovered) {
	t.checkGeneration(e)
	t.checkNewestPublished(e)
	t.checkDue(e)
	t.checkTerminations(e)
	lists := lists{added: e.Added, updated: e.Updated, removed: e.Removed}
	for i := range t.subjects {
		s := &t.subjects[i]
		is, holds := e.Fleet.Get(s.key)
		lists.take(s, is, holds)
		t.checkTerminated(s, is, holds)
		t.checkAnsweredPublished(s, is, holds)
		s.told, s.isTold = is, holds
	}
	if len(lists.added)+len(lists.updated)+len(lists.removed) > 0 || lists.wrong ||
		e.Fleet.Len() != t.published.fleet.Len()+len(e.Added)-len(e.Removed) {
		t.violate("I1", "%d endpoints became %d, but not by adding %v, updating %v, removing %v",
			t.published.fleet.Len(), e.Fleet.Len(), e.Added, e.Updated, e.Removed)
	}
	t.published = publication{told: true, fleet: e.Fleet, generation: e.Generation}
	t.publishes = true
}

// lists are those of a publication, as far as they have not been met. All that they name is looked
// at in the same order, the order of the keys.
type lists struct {
	added, updated, removed []core.PodKey
	wrong                   bool
}

// take strikes a pod off where it has to be listed.
func (l *lists) take(s *subject, is core.Endpoint, holds bool) {
	stays := holds && s.isTold && is.Identity == s.told.Identity
	if holds && !stays {
		l.strike(&l.added, s.key)
	}
	if s.isTold && !stays {
		l.strike(&l.removed, s.key)
	}
	if stays && is.Version != s.told.Version {
		l.strike(&l.updated, s.key)
	}
}

func (l *lists) strike(list *[]core.PodKey, key core.PodKey) {
	if len(*list) == 0 || (*list)[0] != key {
		l.wrong = true
		return
	}
	*list = (*list)[1:]
}

// checkPublished: at the end of a step, what was last published is true and nothing is overdue.
func (t *transition) checkPublished() {
	t.checkTold()
	t.checkOverdue()
	t.checkReplays()
	t.checkRetired()
	if t.published.told && t.published.fleet.Credentials() != t.known.credentials {
		t.violate("R16", "new credentials are not published in the same step")
	}
}

// checkRetired: no endpoint stays published whose identity is no admitted candidate's (R14), or
// with an old version (R16).
func (t *transition) checkRetired() {
	if !t.publishes && t.terminated > 0 {
		t.violate("R14", "Terminated without a publication in the same step")
	}
	for i := range t.subjects {
		switch s := &t.subjects[i]; {
		case !s.isTold:
		case !s.answered(s.told.Identity):
			t.violate("R14", "not retired in the same step: %s", naming(s.told.Identity))
		case s.told.Version != s.life.version:
			t.violate("R16", "the version of %s is not published in the same step", s.key)
		}
	}
}
