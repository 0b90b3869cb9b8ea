package explore

import (
	"fmt"
	"strings"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/core/invariant"
	"github.com/haproxy-discovery/haproxy-discovery/shell/inputlog"
)

type violation = invariant.Violation

// Counterexample is a shortest way from a fresh state to something that does not hold.
type Counterexample struct {
	World World
	// Moves are what the way is called, Inputs what it is; the world's start is in Inputs only.
	Moves      []string
	Inputs     []core.Input
	Violations []violation

	proof  proof
	reduce Reduce
	// branches are inputs that were all reduced from the last state, for proofs by purity and by restoring.
	branches []core.Input
}

// proof is what shows, after the last input, that something does not hold.
type proof uint8

const (
	// The check of a transition, of the last one as a rule.
	byCheck proof = iota
	// The last input comes after the end of what it is about, and something follows.
	byEcho
	// Reducing other inputs from the last state changes it.
	byPurity
	// If nothing new happens from then on, the end is not as it must be, or there is none.
	byConvergence
	// What is restored from a snapshot of the last state is another state.
	byRestoring
)

// String tells the way and what is wrong.
func (c *Counterexample) String() string {
	if c == nil {
		return "none"
	}
	var text strings.Builder
	fmt.Fprintf(&text, "world %s, %d moves:\n", c.World.Name, len(c.Moves))
	for _, move := range c.Moves {
		fmt.Fprintf(&text, "  %s\n", move)
	}
	for _, violation := range c.Violations {
		fmt.Fprintf(&text, "%v\n", violation)
	}
	return text.String()
}

// WriteLog records the way as an input log, which `haproxy-discovery replay LOG --check` reads.
func (c *Counterexample) WriteLog(path string) error {
	start := time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)
	writer, err := inputlog.Open(path, inputlog.Run{
		Build: "exploration of world " + c.World.Name, Started: start, Config: c.World.Config,
	}, nil)
	if err != nil {
		return err
	}
	state := core.New(c.World.Config)
	for number, input := range c.Inputs {
		writer.Append(start.Add(time.Duration(number+1)*time.Second), input)
		after, effects, violations := safely(c.reduce, state, input)
		if violations != nil {
			break
		}
		writer.Effects(effects, after)
		state = after
	}
	return writer.Close()
}
