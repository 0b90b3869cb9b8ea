// Package persistent holds the immutable map that the pure packages share. An update returns a new
// map and shares what did not change with the old one, in O(log n); transactions stay hidden, so
// that a map, once seen, never changes.
package persistent

import (
	"iter"
	"strings"

	"github.com/cilium/statedb/part"
)

// Map holds values by namespace and name, in the order of both. The zero value is an empty map.
// Behind a pointer, maps that are one and the same are equal, and the states that hold them are
// small.
type Map[V any] struct{ tree *part.Map[string, V] }

// A key is bounded where pods come in (R3): the tree loses entries with keys of 64 KiB and more.
//
// treeKey orders by namespace, then name: the terminator sorts before anything that can follow it.
// A NUL byte inside a namespace is escaped, so that no two keys collide, whatever they hold.
func treeKey(namespace, name string) string {
	if strings.IndexByte(namespace, 0) >= 0 {
		namespace = strings.ReplaceAll(namespace, "\x00", "\x00\xff")
	}
	return namespace + "\x00\x01" + name
}

// Get finds a value.
func (m Map[V]) Get(namespace, name string) (v V, found bool) {
	if m.tree == nil { // spares making the key
		return v, false
	}
	return m.tree.Get(treeKey(namespace, name))
}

// Set gives a map with the value.
func (m Map[V]) Set(namespace, name string, v V) Map[V] {
	var tree part.Map[string, V]
	if m.tree != nil {
		tree = *m.tree
	}
	tree = tree.Set(treeKey(namespace, name), v)
	return Map[V]{&tree}
}

// Delete gives a map without the value.
func (m Map[V]) Delete(namespace, name string) Map[V] {
	if m.tree == nil {
		return m
	}
	tree := m.tree.Delete(treeKey(namespace, name))
	if tree.Len() == 0 {
		return Map[V]{}
	}
	return Map[V]{&tree}
}

// Len is the number of values.
func (m Map[V]) Len() int {
	if m.tree == nil {
		return 0
	}
	return m.tree.Len()
}

// All iterates over the values in the order of their keys.
func (m Map[V]) All() iter.Seq[V] {
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
