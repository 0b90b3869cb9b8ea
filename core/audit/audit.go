// Package audit decides from what is seen of the pods, twice, whether a view of them has been lost
// (R20a): whether a cache that follows a cluster lacks changes that nobody will tell it any more. An
// API server that was put back from a backup makes caches lose their view, as does a watch that
// stays open and loses an event.
//
// Nothing is compared but for equality, and one look proves nothing: a change may be on its way to
// the cache while the cluster is asked, and the cache may have got it before the cluster was. What
// counts is a pod that has stood still in the cache while the cluster was asked, in another version
// than the cluster's, in two looks one after the other. Hence there is no false alarm as long as
// changes take less time to arrive than passes between two looks.
package audit

import (
	"maps"
	"slices"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// Version identifies one version of a pod; the zero Version is that of a pod that is not there.
type Version struct{ UID, ResourceVersion string }

// View is the versions of all pods, as somebody sees them.
type View map[core.PodKey]Version

// Look is what one audit has seen.
type Look struct {
	// Listed is what the cluster said, in a consistent read.
	Listed View
	// Before and After are what the cache held before the cluster was asked, and once it had answered.
	Before, After View
}

// Verdict is what a look has shown.
type Verdict struct {
	// Lost names the pods about which the cache is wrong for good, in the order of their keys. It has to
	// be filled anew. Empty if the view is not lost.
	Lost []core.PodKey
	// Confirmed reports whether the cache held all that the cluster said.
	Confirmed bool
	// ConfirmedBefore reports whether the look before this one turns out to have been as good: all that
	// the cache lacked then was on its way.
	ConfirmedBefore bool
	// FollowUp asks for the next look soon, instead of after the usual time.
	FollowUp bool
}

// maxFollowUps bounds how many looks in a row are made soon: one to see what was suspected again, one
// to see whether a new list has helped, and one for a change on its way in the middle of that.
const maxFollowUps = 3

// Auditor is what is remembered from one look to the next. The zero Auditor has looked at nothing.
type Auditor struct {
	looked    bool
	suspects  map[core.PodKey]suspect
	followUps int
}

// suspect is a pod that stood still in the cache in another version than the cluster's.
type suspect struct{ cached, listed Version }

// Judge gives the verdict on the next look, and what to remember of it. The Auditor itself does not
// change.
func (a Auditor) Judge(look Look) (Auditor, Verdict) {
	suspects := look.suspects()
	lost := slices.DeleteFunc(sortedKeys(suspects), func(key core.PodKey) bool {
		before, suspected := a.suspects[key]
		return !suspected || !suspects[key].repeats(before)
	})
	verdict := Verdict{
		Lost:            lost,
		Confirmed:       len(suspects) == 0,
		ConfirmedBefore: a.looked && len(lost) == 0,
		FollowUp:        len(suspects) > 0 && a.followUps < maxFollowUps,
	}
	next := Auditor{looked: true, suspects: suspects}
	if len(lost) > 0 {
		next = Auditor{} // the next look is at another cache
	}
	if verdict.FollowUp {
		next.followUps = a.followUps + 1
	}
	return next, verdict
}

// suspects: while the cluster was asked, the cache has not moved. So what it holds is older than the
// answer, or from a history that the cluster has left.
func (l Look) suspects() map[core.PodKey]suspect {
	suspects := map[core.PodKey]suspect{}
	for _, view := range []View{l.Listed, l.After} {
		for _, key := range sortedKeys(view) {
			cached, listed := l.After[key], l.Listed[key]
			if cached == l.Before[key] && cached != listed {
				suspects[key] = suspect{cached, listed}
			}
		}
	}
	return suspects
}

// repeats reports whether the cache has stood still between two looks. A version that is there is
// there once. One that is missing twice may have come and gone in between, unless the cluster had the
// same pod all the time.
func (s suspect) repeats(before suspect) bool {
	stood := s.cached != Version{} || s.listed.UID == before.listed.UID
	return s.cached == before.cached && stood
}

func sortedKeys[V any](m map[core.PodKey]V) []core.PodKey {
	return slices.SortedFunc(maps.Keys(m), core.PodKey.Compare)
}
