package invariant_test

import (
	"testing"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/core/invariant"
)

// TestEveryStoryComesToRest: wherever inputs cease, answers and timers lead to a complete fleet, and
// each of them nearer to it (I10).
func TestEveryStoryComesToRest(t *testing.T) {
	for _, d := range doctoredStories {
		for length := range len(d.story) + 1 {
			state := run(caps, d.story[:length])
			if violations := invariant.Converge(state, core.Reduce); violations != nil {
				t.Errorf("%s, after %d inputs: %v", d.name, length, violations)
			}
		}
	}
}

// TestWhoNeverComesToRestIsCaught: reducers with a bug that only the end of all inputs shows (I10).
func TestWhoNeverComesToRestIsCaught(t *testing.T) {
	for name, reduce := range restless() {
		if violations := invariant.Converge(busy(), reduce); !catches(violations, "I10") {
			t.Errorf("%s: %v", name, violations)
		}
	}
}

func restless() map[string]func(core.State, core.Input) (core.State, []core.Effect) {
	return map[string]func(core.State, core.Input) (core.State, []core.Effect){
		"nothing happens": func(state core.State, _ core.Input) (core.State, []core.Effect) {
			return state, nil
		},
		"versions are not heard": func(state core.State, input core.Input) (core.State, []core.Effect) {
			if finished, is := input.(core.ProbeFinished); is {
				input = answeredWithout(finished.Probe)
			}
			return core.Reduce(state, input)
		},
		"answers are lost": func(state core.State, input core.Input) (core.State, []core.Effect) {
			next, effects := core.Reduce(state, input)
			if _, is := input.(core.ProbeFinished); is {
				next = graft(graft(next, "admitted", state), "published", state)
			}
			return next, effects
		},
	}
}

func TestRest(t *testing.T) {
	for name, test := range rests() {
		violations := invariant.AtRest(test.state)
		if test.atRest != (violations == nil) || !test.atRest && !catches(violations, "I10") {
			t.Errorf("%s: %v", name, violations)
		}
	}
}

// rest is a state that is or is not at rest with all that there is.
type rest struct {
	state  core.State
	atRest bool
}

func rests() map[string]rest {
	return map[string]rest{
		"new":           {core.New(caps), true},
		"gate shut":     {run(caps, opened(pod("a", "u"))[1:]), true},
		"nobody there":  {run(caps, opened()), true},
		"published":     {run(caps, published()), true},
		"rejected":      {run(caps, published(upserted(waiting("a")))), true},
		"in flight":     {run(caps, opened(pod("a", "u"))), false},
		"retry armed":   {run(caps, after(opened(pod("a", "u")), failed(1))), false},
		"no version":    {run(caps, after(opened(pod("a", "u")), answeredWithout(1))), false},
		"cancelled":     {run(caps, after(opened(pod("a", "u")), deleted("a"))), false},
		"not told":      {graft(run(caps, published()), "published", run(caps, opened())), false},
		"not admitted":  {graft(run(caps, published()), "admitted", run(caps, opened())), false},
		"others told":   {graft(run(caps, published()), "published", run(caps, moved())), false},
		"told of old":   {graft(run(caps, published()), "credentials", run(caps, rotated())), false},
		"port not told": {graft(run(caps, published()), "settings", run(caps, moved())), false},
	}
}

func rotated() []core.Input { return published(core.CredentialsUpdated{Credentials: second}) }

func moved() []core.Input { return published(core.ConfigValidated{AgentPort: 5556}) }
