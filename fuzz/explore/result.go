package explore

import (
	"fmt"
	"time"
)

// Result is what an exploration has come to.
type Result struct {
	World       World
	States      int
	Transitions int
	// Depth is the greatest number of moves that a state is away from the start.
	Depth int
	// QuietSteps is the longest that it takes to come to rest once nothing new happens.
	QuietSteps int
	Took       time.Duration
	coverage   coverage
	// Counterexample is what does not hold; nil if everything does.
	Counterexample *Counterexample
}

// add sums results up; those of the depths are the greatest.
func (r *Result) add(other Result) {
	r.States += other.States
	r.Transitions += other.Transitions
	r.Depth = max(r.Depth, other.Depth)
	r.QuietSteps = max(r.QuietSteps, other.QuietSteps)
	r.Took += other.Took
	r.coverage.add(other.coverage)
	if r.Counterexample == nil {
		r.Counterexample = other.Counterexample
	}
}

// String is the result in one line.
func (r Result) String() string {
	verdict := "closed, all invariants hold"
	if r.Counterexample != nil {
		verdict = "FAILED: " + r.Counterexample.Violations[0].String()
	}
	perSecond := float64(r.States) / max(r.Took.Seconds(), 1e-9)
	return fmt.Sprintf("%-12s %9d states %10d transitions, depth %2d, at rest in %2d, %8s, %6.0f/s: %s",
		r.World.Name, r.States, r.Transitions, r.Depth, r.QuietSteps, r.Took.Round(time.Second/10),
		perSecond, verdict)
}
