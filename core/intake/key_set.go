package intake

import (
	"slices"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/core/internal/persistent"
)

// keySet is an immutable set of pods' keys. The zero value is empty.
type keySet struct{ keys persistent.Map[core.PodKey] }

func (s keySet) len() int { return s.keys.Len() }

func (s keySet) has(key core.PodKey) bool {
	_, found := s.keys.Get(key.Namespace, key.Name)
	return found
}

func (s keySet) with(keys []core.PodKey) keySet {
	for _, key := range keys {
		s.keys = s.keys.Set(key.Namespace, key.Name, key)
	}
	return s
}

func (s keySet) and(other keySet) keySet {
	if s.len() == 0 {
		return other
	}
	return s.with(other.sorted())
}

// sorted lists the keys in their order.
func (s keySet) sorted() []core.PodKey { return slices.Collect(s.keys.All()) }
