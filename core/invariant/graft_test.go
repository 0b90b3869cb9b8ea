package invariant_test

import (
	"reflect"
	"slices"
	"testing"
	"unsafe"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/core/invariant"
)

// No reducer that is honest about one part of a state and wrong about another can be written here:
// a state is closed. So its parts are grafted from another state.

// graft gives a state one field of another one.
func graft(state core.State, field string, donor core.State) core.State {
	part(&state, field).Set(part(&donor, field))
	return state
}

func part(state *core.State, field string) reflect.Value {
	v := reflect.ValueOf(state).Elem().FieldByName(field)
	return reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem()
}

var three = core.Config{MaxProbes: 3, MaxRetries: 2}

// busy has something in each of its lists: a is published, b admitted since, c to e are in flight,
// g waits for a first attempt, f and h for a retry, i is rejected.
func busy() core.State {
	return run(three, after(opened(pod("a", "u"), pod("f", "u"), pod("h", "u")),
		answered(1), failed(2), failed(3),
		upserted(pod("b", "u"), pod("c", "u"), pod("d", "u"), pod("e", "u"), pod("g", "u"), waiting("i")),
		core.TimerFired{Timer: 3}, answered(4)))
}

// others are states with other pods, settings and numbers, that have something in each list too.
func others() map[string]core.State {
	elsewhere := []core.Input{
		core.ConfigValidated{AgentPort: 5556},
		core.CredentialsUpdated{Credentials: second},
		core.PodStoreSet{Synced: core.SyncDone,
			Pods: []*core.Pod{pod("a", "u2"), pod("k", "u"), pod("l", "u")}},
	}
	return map[string]core.State{
		"a new state":       core.New(three),
		"nothing published": run(three, elsewhere),
		"all queued": run(three, opened(pod("1", "u"), pod("2", "u"), pod("3", "u"),
			pod("a", "u"), pod("b", "u"), pod("f", "u"), pod("h", "u"))),
		"other pods": run(three, after(elsewhere, answered(1), failed(2), failed(3), waitingFor("m", "n"),
			core.TimerFired{Timer: 2}, answered(4))),
	}
}

// waitingFor adds candidates, and one that is rejected.
func waitingFor(names ...string) core.Input {
	pods := []*core.Pod{waiting("z")}
	for _, name := range names {
		pods = append(pods, pod(name, "u"), pod(name+"2", "u"), pod(name+"3", "u"))
	}
	return upserted(pods...)
}

// fields are the parts of a state that its facts determine: not the numbers of the rules and of the
// past, and not what has opened the gate.
func fields() (names []string) {
	free := []string{"config", "store", "lastPlace", "lastProbe", "lastTimer"}
	for field := range reflect.TypeFor[core.State]().Fields() {
		if !slices.Contains(free, field.Name) {
			names = append(names, field.Name)
		}
	}
	return names
}

// atOnce checks a state alone: what was before is believed, and the step from it changes nothing.
func atOnce(state core.State) []invariant.Violation {
	nobodys := core.TimerFired{Timer: 1 << 60}
	_, effects := core.Reduce(state, nobodys)
	return invariant.Check(state, nobodys, state, effects)
}

// TestEveryPartOfAStateIsChecked: whichever part of a state is replaced by that of another state,
// the evaluation from scratch sees it (I11), or the gate's own check (I6).
func TestEveryPartOfAStateIsChecked(t *testing.T) {
	state := busy()
	if violations := atOnce(state); violations != nil {
		t.Fatal(violations)
	}
	for _, field := range fields() {
		replaced := false
		for name, donor := range others() {
			spoilt := graft(state, field, donor)
			if invariant.Fingerprint(spoilt) == invariant.Fingerprint(state) {
				continue
			}
			replaced = true
			violations := atOnce(spoilt)
			if !catches(violations, "I11") && !catches(violations, "I6") {
				t.Errorf("%s of %s: %v", field, name, violations)
			}
		}
		if !replaced {
			t.Errorf("no other state has another %s", field)
		}
	}
}
