package explore

import (
	"fmt"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/core/invariant"
)

// Reduce is the reducer under exploration: core.Reduce, or one with a bug that has to be found.
type Reduce func(core.State, core.Input) (core.State, []core.Effect)

// isThorough selects the states whose transitions are checked thoroughly, which costs ten times as
// much as the check of what a transition touches: all in a small world, one of 16 in a large one.
func isThorough(state uint32) bool { return state < 1024 || state%16 == 0 }

// checker checks transitions, each alone. It is not safe for concurrent use: its monitors keep their
// memory.
type checker struct{ cheap, thorough *invariant.Monitor }

func newChecker() *checker {
	empty := core.New(core.Config{})
	return &checker{
		cheap:    invariant.NewMonitor(empty),
		thorough: invariant.NewMonitor(empty, invariant.Thorough()),
	}
}

// check gives what does not hold of a transition. Before the gate opens, every check is thorough: a
// cheap one does not know what the past was.
func (c *checker) check(
	thorough bool, before core.State, input core.Input, after core.State, effects []core.Effect,
) []invariant.Violation {
	if thorough || !before.GateOpen() {
		return c.thorough.Check(before, input, after, effects)
	}
	return c.cheap.Check(before, input, after, effects)
}

// safely turns a panic of the reducer, which has to be total (R32), into a violation.
func safely(
	reduce Reduce, before core.State, input core.Input,
) (after core.State, effects []core.Effect, violations []invariant.Violation) {
	defer func() {
		if reason := recover(); reason != nil {
			after, violations = before, violated("R32", "Reduce is total", "panic: %v", reason)
		}
	}()
	after, effects = reduce(before, input)
	return after, effects, nil
}

func violated(number, name, format string, args ...any) []invariant.Violation {
	return []invariant.Violation{
		{Invariant: number, Name: name, Detail: fmt.Sprintf(format, args...)},
	}
}
