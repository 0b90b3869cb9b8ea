package invariant

import "github.com/haproxy-discovery/haproxy-discovery/core"

// A drift tick looks at the whole state, but not at each pod again: at those that have changed since
// the last such look, and at those that wait for something. The others are as they were found right:
//
//   - Their standing, their admission and their published endpoint are the very same values, in the
//     state before the step and after it, and so is what was told of them. States share what has not
//     changed, so that a glance at the pointers shows that.
//   - What the books say of them is the same: the books of a pod change only in a step that looks at
//     it, and who was looked at since is looked at again.
//   - Neither was on one of the lists that are kept of those who wait, of which nobody is left out.
//
// All that is checked of one pod follows from these, from the input and the effects (whom they name
// is looked at), and from the settings (after others everybody is). So what held of such a pod then
// holds now, and by induction since the first look, which leaves nobody out. What is checked of all
// pods are their numbers: those who are as they were count as they did then.
//
// That nobody changes what is shared is I9, which a thorough monitor checks. To find it here as well,
// if late, one look of every fullLook leaves nobody out.
const fullLook = 60

// look is the last one at the whole state that has found nothing wrong.
type look struct {
	// valid tells that there was one, and that since is complete.
	valid bool
	// number counts the looks since the last one that left nobody out.
	number int
	state  core.State
	told   core.Fleet
	epoch  int
	// since are the pods that a step has looked at since.
	since []core.PodKey
}

// serves tells whether what the look has found still counts.
func (l *look) serves(epoch int) bool {
	return l.valid && l.epoch == epoch && l.number < fullLook
}

// note keeps whom a step has looked at, unless that would be more than a look at everybody.
func (l *look) note(touched []core.PodKey) {
	if !l.valid {
		return
	}
	if len(l.since)+len(touched) > l.state.Len()+maxKept {
		l.valid = false
		return
	}
	l.since = append(l.since, touched...)
}

// conclude begins anew after a look that has found nothing wrong.
func (l *look) conclude(t *transition) {
	number := 0
	if t.partial {
		number = l.number + 1
	}
	*l = look{
		valid: true, number: number, state: t.after, told: t.published.fleet,
		epoch: t.known.epoch, since: l.since[:0],
	}
}

// touchChanged adds those who may not be as the last look has found them.
func (t *transition) touchChanged() {
	last := &t.last.state
	t.touched = append(t.touched, t.last.since...)
	t.touched = append(t.touched, t.after.Changed(t.before)...)
	t.touched = append(t.touched, t.after.Changed(*last)...)
	t.touched = append(t.touched, t.after.Admitted().Changed(last.Admitted())...)
	was, _, _ := last.Published()
	is, _, _ := t.after.Published()
	t.touched = append(t.touched, is.Changed(was)...)
	t.touched = append(t.touched, t.published.fleet.Changed(t.last.told)...)
	for _, effect := range t.effects {
		if e, isDiscovered := discoveredOf(effect); isDiscovered {
			t.touched = append(t.touched, e.Fleet.Changed(t.last.told)...)
		}
	}
	t.touchWaiting(last)
	t.touchQueues()
}
