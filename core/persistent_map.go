package core

import (
	"iter"
	"slices"
	"strings"

	"github.com/cilium/statedb/part"
)

// podMap is an immutable map from pods to values, ordered by key: Set and Delete return a new map
// and share what did not change with the old one, in O(log n). Transactions stay hidden, so that a
// map, once seen, never changes. The zero value is an empty map. Behind a pointer, maps that are one
// and the same are told by a glance, and the states that hold them are small.
type podMap[V any] struct{ tree *part.Map[string, V] }

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
	if m.tree == nil { // spares making the key
		return v, false
	}
	return m.tree.Get(treeKey(key))
}

func (m podMap[V]) Set(key PodKey, v V) podMap[V] {
	var tree part.Map[string, V]
	if m.tree != nil {
		tree = *m.tree
	}
	tree = tree.Set(treeKey(key), v)
	return podMap[V]{&tree}
}

func (m podMap[V]) Delete(key PodKey) podMap[V] {
	if m.tree == nil {
		return m
	}
	tree := m.tree.Delete(treeKey(key))
	if tree.Len() == 0 {
		return podMap[V]{}
	}
	return podMap[V]{&tree}
}

func (m podMap[V]) Len() int {
	if m.tree == nil {
		return 0
	}
	return m.tree.Len()
}

func (m podMap[V]) Has(key PodKey) bool { _, found := m.Get(key); return found }

// All iterates in the order of the keys.
func (m podMap[V]) All() iter.Seq[V] {
	return func(yield func(V) bool) {
		if m.tree == nil {
			return
		}
		for _, v := range m.tree.All() {
			if !yield(v) {
				return
			}
		}
	}
}

// changedKeys lists, in order, the keys under which two maps do not hold the same value. It walks
// both side by side, unless they are one and the same.
func changedKeys[V comparable](is, was podMap[V], keyOf func(V) PodKey) []PodKey {
	if is.tree == was.tree {
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
