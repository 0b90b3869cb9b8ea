package explore

import (
	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/core/invariant"
)

// checkRestored: a state that is restored from its snapshot does what the state does, at every next
// move, and says the same afterwards (R35).
func (e *expansion) checkRestored(number uint32, state core.State) *failure {
	failed := func(format string, args ...any) *failure {
		return &failure{state: number, proof: byRestoring, violations: violated(
			"R35", "a restored state is the same", format, args...)}
	}
	restored, err := core.Restore(state.Snapshot())
	if err != nil {
		return failed("%v", err)
	}
	for _, move := range e.search.world.Moves {
		input, can := move.In(state)
		if !can {
			continue
		}
		after, effects := e.search.reduce(state, input)
		again, same := e.search.reduce(restored, input)
		switch {
		case e.effects.Sum(same) != e.effects.Sum(effects):
			return failed("%s: other effects follow from the restored state", move.Name)
		case invariant.Fingerprint(again) != invariant.Fingerprint(after):
			return failed("%s: the restored state becomes another one", move.Name)
		}
	}
	return nil
}

// isRestored selects the states that are compared with what is restored of them, which takes longer
// than all else: those of a small world, a few of a large one, and all where the world wants it.
func (s *search) isRestored(state uint32) bool {
	return s.world.RestoreAll || state < 2048 || state%64 == 0
}
