package world

import (
	"math/rand/v2"

	"pgregory.net/rapid"
)

// Plan decides a run: the same plan always makes the same run. It is drawn by rapid, a word for
// each turn, so that a run that fails is shrunk to few and simple turns. In every word, zero is the
// quiet choice; and words are short, since each bit costs rapid time to shrink.
type Plan struct {
	// Shape decides the numbers of the rules and the size of the fleet, Classes, together with
	// Noise, which classes of events occur at all, Noise all that nobody decides: delays, and what
	// varies between pods.
	Shape, Classes, Noise uint16
	// Turns are what operators, nodes and agents do, one after the other. Their number is fixed:
	// rapid blanks a turn faster than it takes one out.
	Turns [64]uint32
}

// Plans draws plans. The one drawn from a seed by Example is the one that a check with -rapid.seed
// draws first.
var Plans = rapid.Custom(func(t *rapid.T) Plan {
	plan := Plan{
		Shape:   headings.Draw(t, "shape"),
		Classes: headings.Draw(t, "classes"),
		Noise:   headings.Draw(t, "noise"),
	}
	for i := range plan.Turns {
		plan.Turns[i] = turns.Draw(t, "turn")
	}
	return plan
})

var (
	headings = rapid.Uint16()
	turns    = rapid.Uint32()
)

// choice is what is left of a word to decide by.
type choice uint32

// of decides for one of n things, 0 to n-1.
func (c *choice) of(n int) int {
	decided := int(*c % choice(n))
	*c /= choice(n)
	return decided
}

// noise is what nobody decides. Without a seed there is none: always zero. Each turn begins anew
// with its own noise, so that leaving out a turn leaves the others as they are.
type noise struct {
	seed   uint16
	source rand.PCG
}

func (n *noise) begin(word uint32) { n.source.Seed(uint64(n.seed), uint64(word)) }

// below gives a number from 0 to n-1.
func (n *noise) below(limit int) int {
	if n.seed == 0 {
		return 0
	}
	return int(n.source.Uint64() % uint64(limit))
}
