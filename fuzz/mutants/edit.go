package main

import (
	"cmp"
	"slices"
)

// edits are insertions into, and replacements in, the text of a file. They may nest: what is asked
// for first is the outer one.
type edits struct {
	list []edit
	// lastSequence numbers them.
	lastSequence int
}

type edit struct {
	offset, length int
	text           string
	// rank orders edits at one place: what closes stands before what opens.
	closes   bool
	sequence int
}

func (e *edits) add(offset, length int, text string, closes bool) {
	e.lastSequence++
	e.list = append(e.list, edit{offset, length, text, closes, e.lastSequence})
}

// wrap puts text around the code from start to end.
func (e *edits) wrap(start, end int, before, after string) {
	e.add(start, 0, before, false)
	e.add(end, 0, after, true)
}

// replace puts text in the place of code in which nothing else is edited.
func (e *edits) replace(start, end int, text string) { e.add(start, end-start, text, false) }

func (e *edits) apply(source []byte) []byte {
	slices.SortStableFunc(e.list, func(a, b edit) int {
		switch {
		case a.offset != b.offset:
			return cmp.Compare(a.offset, b.offset)
		case a.closes != b.closes && a.closes:
			return -1
		case a.closes != b.closes:
			return 1
		case a.closes: // the inner one, asked for later, first
			return cmp.Compare(b.sequence, a.sequence)
		default:
			return cmp.Compare(a.sequence, b.sequence)
		}
	})
	var out []byte
	at := 0
	for _, edit := range e.list {
		out = append(out, source[at:edit.offset]...)
		out = append(out, edit.text...)
		at = edit.offset + edit.length
	}
	return append(out, source[at:]...)
}
