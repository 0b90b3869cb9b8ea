package world

import (
	"math/rand/v2"

	"pgregory.net/rapid"
)

// Plan decides a run: the same plan always makes the same run. It is drawn by rapid, a word for
// each turn, so that a run that fails is shrunk to few and simple turns. In every word, zero is the
// quiet choice.
type Plan struct {
	// Shape decides the numbers of the rules and the size of the fleet, Classes which classes of
	// events occur at all, Noise all that nobody decides: delays, and what varies between pods.
	Shape, Classes, Noise uint64
	// Turns are what operators, nodes and agents do, one after the other.
	Turns []uint64
}

// Plans draws plans. The one drawn from a seed by Example is the one that a check with -rapid.seed
// draws first.
var Plans = rapid.Custom(func(t *rapid.T) Plan {
	return Plan{
		Shape:   words.Draw(t, "shape"),
		Classes: words.Draw(t, "classes"),
		Noise:   words.Draw(t, "noise"),
		Turns:   turns.Draw(t, "turns"),
	}
})

var (
	words = rapid.Uint64()
	turns = rapid.SliceOfN(words, 40, 400)
)

// choice is what is left of a word to decide by.
type choice uint64

// of decides for one of n things, 0 to n-1.
func (c *choice) of(n int) int {
	decided := int(uint64(*c) % uint64(n))
	*c /= choice(n)
	return decided
}

// noise is what nobody decides. Without a seed there is none: always zero.
type noise struct {
	silent bool
	source rand.PCG
}

func (n *noise) restart(seed uint64) {
	n.silent = seed == 0
	n.source.Seed(seed, 0)
}

// below gives a number from 0 to n-1.
func (n *noise) below(limit int) int {
	if n.silent {
		return 0
	}
	return int(n.source.Uint64() % uint64(limit))
}
