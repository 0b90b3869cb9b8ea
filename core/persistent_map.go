package core

import (
	"iter"
	"slices"

	"github.com/cilium/statedb/part"

	"github.com/haproxy-discovery/haproxy-discovery/core/internal/persistent"
)

// podMap is an immutable map from pods to values, ordered by key. The zero value is an empty map.
// Maps that are one and the same are equal.
type podMap[V any] struct{ entries persistent.Map[V] }

func (m podMap[V]) Get(key PodKey) (V, bool) { return m.entries.Get(key.Namespace, key.Name) }
func (m podMap[V]) Set(key PodKey, v V) podMap[V] {
	return podMap[V]{m.entries.Set(key.Namespace, key.Name, v)}
}
func (m podMap[V]) Delete(key PodKey) podMap[V] {
	return podMap[V]{m.entries.Delete(key.Namespace, key.Name)}
}
func (m podMap[V]) Len() int            { return m.entries.Len() }
func (m podMap[V]) Has(key PodKey) bool { _, found := m.Get(key); return found }

// All iterates in the order of the keys.
func (m podMap[V]) All() iter.Seq[V] { return m.entries.All() }

// changedKeys lists, in order, the keys under which two maps do not hold the same value. It walks
// both side by side, unless they are one and the same.
func changedKeys[V comparable](is, was podMap[V], keyOf func(V) PodKey) []PodKey {
	if is == was {
		return nil
	}
	var changed []PodKey
	past := slices.AppendSeq(make([]V, 0, was.Len()), was.All())
	for v := range is.All() {
		for len(past) > 0 && past[0] != v && keyOf(past[0]).Compare(keyOf(v)) < 0 {
			changed = append(changed, keyOf(past[0]))
			past = past[1:]
		}
		if len(past) > 0 && past[0] == v {
			past = past[1:]
			continue
		}
		changed = append(changed, keyOf(v))
		if len(past) > 0 && keyOf(past[0]) == keyOf(v) {
			past = past[1:]
		}
	}
	for _, v := range past {
		changed = append(changed, keyOf(v))
	}
	return changed
}

// podKeys lists the keys of a set in order; nil for an empty one.
func podKeys(set podMap[PodKey]) []PodKey { return slices.Collect(set.All()) }

// numberMap is podMap for numbered things: an ordered immutable map that also serves as a queue.
type numberMap[V any] struct{ tree part.Map[uint64, V] }

func (m numberMap[V]) Get(n uint64) (V, bool)         { return m.tree.Get(n) }
func (m numberMap[V]) Set(n uint64, v V) numberMap[V] { return numberMap[V]{m.tree.Set(n, v)} }
func (m numberMap[V]) Delete(n uint64) numberMap[V]   { return numberMap[V]{m.tree.Delete(n)} }
func (m numberMap[V]) Len() int                       { return m.tree.Len() }
func (m numberMap[V]) Has(n uint64) bool              { _, found := m.Get(n); return found }

// All iterates in the order of the numbers.
func (m numberMap[V]) All() iter.Seq2[uint64, V] {
	if m.Len() == 0 {
		return func(func(uint64, V) bool) {}
	}
	return m.tree.All()
}

// First is the entry with the smallest number.
func (m numberMap[V]) First() (n uint64, v V, found bool) {
	if m.Len() > 0 { // iterating costs more than asking
		for n, v := range m.tree.All() {
			return n, v, true
		}
	}
	return n, v, false
}
