package explore

import (
	"slices"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// World is a small world: what can happen in it, in any order and as often as you like.
type World struct {
	Name string
	// Emphasis says what the world is about, in a few words.
	Emphasis string
	Config   core.Config
	// Start are the inputs before the exploration begins; they are checked like all others.
	Start []core.Input
	// Moves is the alphabet; at most 256. Credentials that occur in it differ by username.
	Moves []Move
	// MaxStates is the bound beyond which the search gives up. That is a failure.
	MaxStates int
	// RestoreAll compares every state with what is restored from its snapshot, not only some.
	RestoreAll bool
}

// Move is something that can happen in many states. It names a probe or a timer by what it is for,
// not by its number, so that it is the same move in states that differ in nothing but numbers.
type Move struct {
	Name string
	// In gives the input that the move is in a state, if it can happen there.
	In func(state core.State) (input core.Input, can bool)
	// Quiet marks what goes on happening once nothing new happens: probes answer, timers fire.
	Quiet bool
}

// follow makes moves from the start on. It gives the state that they lead to, and the inputs that
// they are, with those of the start.
func (w World) follow(reduce Reduce, moves []byte) (core.State, []core.Input) {
	state := core.New(w.Config)
	inputs := slices.Clone(w.Start)
	for _, input := range w.Start {
		state, _, _ = safely(reduce, state, input)
	}
	for _, number := range moves {
		input, _ := w.Moves[number].In(state)
		inputs = append(inputs, input)
		state, _, _ = safely(reduce, state, input)
	}
	return state, inputs
}

// alphabet are the inputs that can come in a state.
func (w World) alphabet(state core.State) []core.Input {
	var inputs []core.Input
	for _, move := range w.Moves {
		if input, can := move.In(state); can {
			inputs = append(inputs, input)
		}
	}
	return inputs
}
