package core

import (
	"iter"
	"slices"
	"strings"

	"github.com/cilium/statedb/part"
)

// podMap is an immutable map from pods to values, ordered by key: Set and Delete return a new map
// and share what did not change with the old one, in O(log n). Transactions stay hidden, so that a
// map, once seen, never changes. The zero value is an empty map.
type podMap[V any] struct{ tree part.Map[string, V] }

// A key is bounded where pods come in (R3): the tree loses entries with keys of 64 KiB and more.
//
// treeKey orders like PodKey.Compare: the terminator sorts before anything that can follow it. A
// NUL byte inside a namespace is escaped, so that no two keys collide, whatever they hold.
func treeKey(key PodKey) string {
	namespace := key.Namespace
	if strings.IndexByte(namespace, 0) >= 0 {
		namespace = strings.ReplaceAll(namespace, "\x00", "\x00\xff")
	}
	return namespace + "\x00\x01" + key.Name
}

func (m podMap[V]) Get(key PodKey) (v V, found bool) {
	if m.Len() == 0 { // spares making the key
		return v, false
	}
	return m.tree.Get(treeKey(key))
}
func (m podMap[V]) Set(key PodKey, v V) podMap[V] { return podMap[V]{m.tree.Set(treeKey(key), v)} }
func (m podMap[V]) Delete(key PodKey) podMap[V]   { return podMap[V]{m.tree.Delete(treeKey(key))} }
func (m podMap[V]) Len() int                      { return m.tree.Len() }
func (m podMap[V]) Has(key PodKey) bool           { _, found := m.Get(key); return found }

// All iterates in the order of the keys.
func (m podMap[V]) All() iter.Seq[V] {
	return func(yield func(V) bool) {
		if m.Len() == 0 { // iterating costs more than asking
			return
		}
		for _, v := range m.tree.All() {
			if !yield(v) {
				return
			}
		}
	}
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
