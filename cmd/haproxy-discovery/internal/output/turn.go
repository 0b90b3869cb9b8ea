package output

import (
	"fmt"
	"time"
)

// Turn is where a run of the recorded program begins or ends.
type Turn struct {
	// Kind is restart, stopped or closing, as the log has it, or killed for a run without an end.
	Kind string
	// Time is zero where nobody knows.
	Time time.Time
	// Last is the number of the last input before it.
	Last uint64
	// Build is that of a restart, Reason and Lost are of a stop.
	Build, Reason string
	Lost          uint64
}

type turnJSON struct {
	Run    string `json:"run"`
	Time   string `json:"time,omitempty"`
	Last   uint64 `json:"last"`
	Build  string `json:"build,omitempty"`
	Reason string `json:"reason,omitempty"`
	Lost   uint64 `json:"lost,omitempty"`
}

// Turn prints it.
func (p *Printer) Turn(turn Turn) error {
	if p.format == JSON {
		j := turnJSON{
			Run: turn.Kind, Last: turn.Last, Build: turn.Build, Reason: turn.Reason, Lost: turn.Lost,
		}
		if !turn.Time.IsZero() {
			j.Time = turn.Time.UTC().Format(time.RFC3339Nano)
		}
		return p.lines.Encode(j)
	}
	what := map[string]string{
		"restart": "RESTART  the program has begun again, with a fresh state",
		"stopped": "STOPPED  recording had to end before the program did",
		"closing": "END      the run has ended in order",
		"killed":  "END      the run has no record of its end: killed, cut off or still at work",
	}[turn.Kind]
	r := record{kind: what, fields: []field{{"build", turn.Build}, {"reason", turn.Reason}}}
	if turn.Lost > 0 {
		r.fields = append(r.fields, field{"lost_inputs", turn.Lost})
	}
	const layout = "2006-01-02T15:04:05.000Z"
	at := fmt.Sprintf("%*s", len(layout), "")
	if !turn.Time.IsZero() {
		at = turn.Time.UTC().Format(layout)
	}
	_, err := fmt.Fprintf(p.buffer, "%6s  %s  %s\n", "", at, r)
	return err
}
