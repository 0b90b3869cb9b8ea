package invariant

import (
	"fmt"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// Violation tells that an invariant or a rule does not hold.
type Violation struct {
	// Invariant is the number, as in the package's documentation: I1 to I9, or a rule's.
	Invariant string
	// Name says in words what has to hold.
	Name string
	// Detail says what was seen instead. It holds names, numbers and addresses, never a secret.
	Detail string
}

// String is one line.
func (v Violation) String() string { return v.Invariant + " " + v.Name + ": " + v.Detail }

var names = map[string]string{
	"I1":  "termination before publish",
	"I2":  "only who answered is published",
	"I3":  "newest config and credentials",
	"I4":  "no needless probe",
	"I5":  "bounded probes",
	"I6":  "gate first",
	"I7":  "generations grow",
	"I8":  "nothing is forgotten",
	"I9":  "purity",
	"R7":  "full passes report and retry",
	"R8":  "rejections are reported on change",
	"R14": "order within a step",
	"R16": "updates at once",
	"R17": "publication in time",
	"R19": "one replay to a new leader",
	"R21": "first attempts first",
	"R22": "time limits grow",
	"R23": "failures are reported and retried",
}

func (t *transition) violate(invariant, format string, args ...any) {
	t.violations = append(t.violations, Violation{
		Invariant: invariant, Name: names[invariant], Detail: fmt.Sprintf(format, args...),
	})
}

// naming shows which incarnation an identity is, for people.
func naming(identity core.Identity) string {
	return fmt.Sprintf("%s (%s, %.12s, %s)",
		identity.Key(), identity.UID, identity.RuntimeID, identity.URL)
}
