package world

import (
	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/core/invariant"
)

// keepsake is a state of the past with what it said when it was new: no step may change it (I9).
type keepsake struct {
	// at is the input before which the state is kept. In most runs it never comes: asking a state
	// everything takes as long as reducing many inputs.
	at    int
	state core.State
	text  string
}

const keepsakesOutOf = 300

func (k *keepsake) restart(w *World) { *k = keepsake{at: 1 + w.noise.below(keepsakesOutOf)} }

// consider keeps the state if it is its turn; then the same input leads from it to the same state
// once more.
func (k *keepsake) consider(w *World, input core.Input, after core.State) {
	if w.inputs != k.at {
		return
	}
	k.state, k.text = w.state, invariant.Fingerprint(w.state)
	again, _ := core.Reduce(w.state, input)
	if invariant.Fingerprint(again) != invariant.Fingerprint(after) {
		w.fail("I9: the same input leads to another state")
	}
}

func (k *keepsake) check(w *World) {
	if k.text != "" && invariant.Fingerprint(k.state) != k.text {
		w.fail("I9: the state before input %d has changed", k.at)
	}
}
