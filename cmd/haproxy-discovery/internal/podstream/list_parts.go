package podstream

import (
	"maps"
	"slices"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// A list replaces everything before it: a pod that it lacks is gone. That takes a whole list. The
// parts of a long one are joined until the last has come, which is when absence counts; if anything
// of it was lost on the way, it counts for nothing (R6): such a list is believed in what it holds.

// ListState is how far the newest list has come.
type ListState uint8

// The states of a list.
const (
	// NoList: there was none yet.
	NoList ListState = iota
	// ListBegun: parts of it are still to come.
	ListBegun
	// ListLossy: it has ended, and something of it could not be read; nothing was removed.
	ListLossy
	// ListWhole: it has replaced everything before it.
	ListWhole
)

// listing is a list under way.
type listing struct {
	// held are the pods of its parts so far, and those that were told of in between.
	held  map[core.PodKey]bool
	lossy bool
}

// LastList tells how far the newest list has come.
func (s *Store) LastList() ListState {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lastList
}

// list takes in a list or a part of one. Of two pods with the same key, the last one counts.
func (s *Store) list(item ListItem) []core.PodKey {
	if s.listing == nil {
		s.listing = &listing{held: make(map[core.PodKey]bool, len(item.Pods))}
	}
	s.listing.lossy = s.listing.lossy || item.Lossy
	touched := make(map[core.PodKey]bool, len(item.Pods))
	for _, pod := range item.Pods {
		for _, key := range s.set(pod) {
			touched[key] = true
		}
	}
	s.lastList = ListBegun
	if !item.Continued {
		s.endList(touched)
	}
	return slices.SortedFunc(maps.Keys(touched), core.PodKey.Compare)
}

func (s *Store) endList(touched map[core.PodKey]bool) {
	ended := s.listing
	s.listing = nil
	if ended.lossy {
		s.lastList = ListLossy
		return
	}
	s.lastList = ListWhole
	s.sorted = nil
	for key := range s.pods {
		if !ended.held[key] {
			delete(s.pods, key)
			touched[key] = true
		}
	}
}
