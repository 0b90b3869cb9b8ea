package invariant_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/core/invariant"
)

func TestDoctoredTransitionsAreCaught(t *testing.T) {
	for _, d := range doctoredStories {
		t.Run(d.invariant+" "+d.name, func(t *testing.T) {
			if got := watch(d, invariant.Thorough()); !catches(got, d.invariant) {
				t.Errorf("a thorough monitor sees %v", got)
			}
			if got := watch(d); catches(got, d.invariant) == d.onlyThorough {
				t.Errorf("a cheap monitor sees %v", got)
			}
		})
	}
}

// TestEveryCheckHasItsDoctoredTransition: nothing is checked that no test breaks on purpose.
func TestEveryCheckHasItsDoctoredTransition(t *testing.T) {
	var broken []string
	for _, d := range doctoredStories {
		if !slices.Contains(broken, d.invariant) {
			broken = append(broken, d.invariant)
		}
	}
	want := invariant.Names()
	for number := 1; number <= 11; number++ {
		if name := fmt.Sprintf("I%d", number); !slices.Contains(want, name) {
			t.Errorf("%s is not checked", name)
		}
	}
	slices.Sort(broken)
	slices.Sort(want)
	if !slices.Equal(broken, want) {
		t.Errorf("broken on purpose are %v, checked %v", broken, want)
	}
}

func TestHonestTransitionsPass(t *testing.T) {
	for _, d := range slices.Concat(doctoredStories, honestStories) {
		d.doctor = func(*outcome) {}
		for _, options := range [][]invariant.Option{
			nil, {invariant.Whole()}, {invariant.Thorough()},
		} {
			if got := watch(d, options...); got != nil {
				t.Errorf("%s: %v", d.name, got)
			}
		}
	}
}

// TestCheckBelievesThePast: the same stories, with nothing but their last step looked at; one
// monitor for all of them sees the same as a new one for each.
func TestCheckBelievesThePast(t *testing.T) {
	used := invariant.NewMonitor(busy(), invariant.Thorough())
	for _, d := range slices.Concat(doctoredStories, honestStories) {
		state := run(caps, d.story[:len(d.story)-1])
		input := d.story[len(d.story)-1]
		next, effects := core.Reduce(state, input)
		if got := invariant.Check(state, input, next, effects); got != nil {
			t.Errorf("%s: %v", d.name, got)
		}
		if got := used.Check(state, input, next, effects); got != nil {
			t.Errorf("%s: a used monitor sees %v", d.name, got)
		}
		if d.doctor == nil {
			continue
		}
		o := outcome{before: state, after: next, effects: slices.Clone(effects)}
		d.doctor(&o)
		fresh := invariant.Check(state, input, o.after, o.effects)
		if got := used.Check(state, input, o.after, o.effects); !slices.Equal(got, fresh) {
			t.Errorf("%s: a used monitor sees %v instead of %v", d.name, got, fresh)
		}
	}
}

// TestAChangedPastIsCaught: facts that somebody changes after they were handed over (I9).
func TestAChangedPastIsCaught(t *testing.T) {
	if violations := watch(changedPast(), invariant.Thorough()); !catches(violations, "I9") {
		t.Errorf("a thorough monitor sees %v", violations)
	}
}

func changedPast() doctored {
	spoilt := pod("a", "u")
	return doctored{
		story:  after(opened(spoilt), answered(1)),
		doctor: func(*outcome) { spoilt.Terminating = true },
	}
}

// watch lets a monitor see the story up to its last step, which is doctored. It gives what the
// monitor says.
func watch(d doctored, options ...invariant.Option) []invariant.Violation {
	d.story = slices.Clone(d.story)
	state := core.New(caps)
	monitor := invariant.NewMonitor(state, options...)
	for i, input := range d.story {
		next, effects := core.Reduce(state, input)
		o := outcome{before: state, after: next, effects: effects}
		if i == len(d.story)-1 {
			d.doctor(&o)
		}
		if violations := monitor.Step(input, o.after, o.effects); violations != nil {
			return violations
		}
		state = next
	}
	return nil
}

func catches(violations []invariant.Violation, name string) bool {
	return slices.ContainsFunc(violations,
		func(v invariant.Violation) bool { return v.Invariant == name })
}
