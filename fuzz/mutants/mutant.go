package main

import (
	"fmt"
	"strings"
)

// Mutant is one change of one place.
type Mutant struct {
	// ID turns it on, from 1.
	ID int
	// Line is where it is, for people; it is no part of the name.
	Line int
	name
}

// name is what a mutant is known by: it outlives changes elsewhere in the file.
type name struct {
	File     string
	Function string
	// Original is the code that is changed, Change what is done to it.
	Original string
	Change   string
	// Nth tells changes apart that are the same otherwise, from 1, in the order of the source.
	Nth int
}

// String is the form in which the list of accepted mutants holds it.
func (n name) String() string {
	text := fmt.Sprintf("%s %s: %s -> %s", n.File, n.Function, n.Original, n.Change)
	if n.Nth > 1 {
		text += fmt.Sprintf(" (%d)", n.Nth)
	}
	return text
}

// oneLine shortens code to a line.
func oneLine(code string) string {
	const most = 100
	line := []rune(strings.Join(strings.Fields(code), " "))
	if len(line) > most {
		return string(line[:most-1]) + "…"
	}
	return string(line)
}
