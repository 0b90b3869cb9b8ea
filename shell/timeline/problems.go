package timeline

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/shell"
)

// maxProblemText bounds what is kept of an error's text, in bytes.
const maxProblemText = 500

// Problems are the newest problem of each kind, in the order in which the kinds first came up.
type Problems []Problem

// Problem is the newest one of its kind.
type Problem struct {
	Kind shell.ProblemKind
	// Text is what the error says, shortened.
	Text string
	// Count is how many of the kind there were; At is when the newest came.
	Count uint64
	At    time.Time
}

// with leaves the receiver as it is.
func (p Problems) with(problem shell.Problem, at time.Time) Problems {
	next := slices.Clone(p)
	i := slices.IndexFunc(next, func(known Problem) bool { return known.Kind == problem.Kind })
	if i < 0 {
		i = len(next)
		next = append(next, Problem{Kind: problem.Kind})
	}
	next[i].Text, next[i].At = shortened(fmt.Sprint(problem.Err)), at
	next[i].Count++
	return next
}

func shortened(text string) string {
	if len(text) > maxProblemText {
		text = text[:maxProblemText] + "…"
	}
	return strings.ToValidUTF8(text, "")
}
