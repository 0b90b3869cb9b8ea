package output

import (
	"fmt"

	"github.com/samber/lo"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/core/projection"
)

// verdictChange is where a pod stood before a step and stands after it, in the words of the status
// page.
type verdictChange struct {
	Pod    string `json:"pod"`
	Before string `json:"verdict_before"`
	After  string `json:"verdict"`
}

// verdictChanges has an entry for each pod that the input is about, and for every other one that has
// got another verdict.
func (s *Step) verdictChanges() []verdictChange {
	keys, all := projection.Named(s.Before, s.Input)
	if all {
		keys = s.After.Changed(s.Before)
	}
	changes := []verdictChange{}
	for _, key := range lo.Uniq(keys) {
		change := verdictChange{
			key.String(), verdictOf(s.Before, key, "unknown"), verdictOf(s.After, key, "gone"),
		}
		known := change.Before != "unknown" || change.After != "gone"
		if known && (!all || change.Before != change.After) {
			changes = append(changes, change)
		}
	}
	return changes
}

func verdictOf(state core.State, key core.PodKey, notKnown string) string {
	standing, found := state.Standing(key)
	if !found {
		return notKnown
	}
	status, reason := projection.StatusOf(standing)
	// The cause of a failed probe is not part of a state; the event of the step tells it.
	return VerdictText(
		projection.Pod{Status: status, Reason: reason, Cause: standing.Verdict.Cause}, notKnown)
}

// verdictLines shows the first few.
func verdictLines(changes []verdictChange) (lines []string) {
	const few = 5
	for _, c := range changes[:min(len(changes), few)] {
		line := fmt.Sprintf("verdict %s %s -> %s", c.Pod, c.Before, c.After)
		if c.Before == c.After {
			line = fmt.Sprintf("verdict %s %s, as before", c.Pod, c.After)
		}
		lines = append(lines, printable(line))
	}
	if more := len(changes) - few; more > 0 {
		lines = append(lines, fmt.Sprintf("verdict of %d more", more))
	}
	return lines
}
