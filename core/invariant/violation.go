package invariant

import (
	"fmt"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// Violation tells that an invariant or a rule does not hold.
type Violation struct {
	// Invariant is the number, as in the package's documentation: I1 to I11, or a rule's.
	Invariant string
	// Name says in words what has to hold.
	Name string
	// Detail says what was seen instead. It holds names, numbers and addresses, never a secret.
	Detail string
}

// String is one line.
func (v Violation) String() string { return v.Invariant + " " + v.Name + ": " + v.Detail }

// checked is all that is checked, by number.
var checked = []struct{ number, name string }{
	{"I1", "who goes is terminated once, before the publication without it"},
	{"I2", "only who answered is published"},
	{"I3", "publications and probes carry the newest config and credentials"},
	{"I4", "only who needs it is probed"},
	{"I5", "probes stay within their bounds"},
	{"I6", "the gate opens first"},
	{"I7", "generations grow by one"},
	{"I8", "everybody who waits is remembered"},
	{"I9", "the same step gives the same result and leaves the past alone"},
	{"I10", "answers and timers lead to rest with a complete fleet"},
	{"I11", "the state is what its facts say"},
	{"R7", "full passes report and retry"},
	{"R8", "rejections are reported on change"},
	{"R14", "effects come in order, retirements at once"},
	{"R16", "updates are published at once"},
	{"R17", "publications come in time"},
	{"R19", "a new leader gets one replay"},
	{"R21", "first attempts go first"},
	{"R22", "time limits grow"},
	{"R23", "failures are reported and retried"},
}

// Names lists the numbers of all that is checked: the values that Violation.Invariant can have.
func Names() []string {
	numbers := make([]string, 0, len(checked))
	for _, check := range checked {
		numbers = append(numbers, check.number)
	}
	return numbers
}

// findings collects violations.
type findings struct{ violations []Violation }

func (f *findings) violate(invariant, format string, args ...any) {
	name := ""
	for _, check := range checked {
		if check.number == invariant {
			name = check.name
		}
	}
	f.violations = append(f.violations,
		Violation{Invariant: invariant, Name: name, Detail: fmt.Sprintf(format, args...)})
}

// naming shows which incarnation an identity is, for people.
func naming(identity core.Identity) string {
	return fmt.Sprintf("%s (%s, %.12s, %s)",
		identity.Key(), identity.UID, identity.RuntimeID, identity.URL)
}
