package intake

import (
	"slices"

	"github.com/cilium/statedb/part"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// keySet is an immutable set of pods' keys. The zero value is empty.
type keySet struct{ tree part.Map[string, core.PodKey] }

func treeKey(key core.PodKey) string { return key.Namespace + "\x00" + key.Name }

func (s keySet) len() int { return s.tree.Len() }

func (s keySet) has(key core.PodKey) bool {
	_, found := s.tree.Get(treeKey(key))
	return found
}

func (s keySet) with(keys []core.PodKey) keySet {
	for _, key := range keys {
		s.tree = s.tree.Set(treeKey(key), key)
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
func (s keySet) sorted() []core.PodKey {
	keys := make([]core.PodKey, 0, s.len())
	if s.len() > 0 { // iterating costs more than asking
		for _, key := range s.tree.All() {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, core.PodKey.Compare)
	return keys
}
