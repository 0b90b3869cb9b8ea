package explore

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/core/invariant"
)

// States with the same digest are explored once, for all of them. That loses nothing if they behave
// alike: the same moves can happen in them, with the same effects but for numbers and durations, and
// lead to states that again have the same digest. These tests compare them.

// behaviour is all that a state does at the next move, whichever it is.
type behaviour []string

func behaviourOf(world World, digester *digester, state core.State) behaviour {
	var all behaviour
	for _, move := range world.Moves {
		input, can := move.In(state)
		if !can {
			continue
		}
		after, effects := core.Reduce(state, input)
		all = append(all, fmt.Sprintf("%s -> %s%x",
			move.Name, nameless(state, after, effects), digester.sum(after)))
	}
	return all
}

// nameless puts effects into words, probes and timers by what they are for, without generations,
// durations and the number of the attempt.
func nameless(before, after core.State, effects []core.Effect) string {
	var text strings.Builder
	for _, effect := range effects {
		switch e := effect.(type) {
		case core.StartProbe:
			fmt.Fprintf(&text, "probe %v as %s", e.Identity, e.Credentials.Username())
		case core.CancelProbe:
			probe, found := before.Probe(e.Probe)
			probe.Probe = 0
			fmt.Fprintf(&text, "cancel %t %v", found, probe)
		case core.StartTimer:
			text.WriteString("start " + purpose(after, e.Timer))
		case core.StopTimer:
			text.WriteString("stop " + purpose(before, e.Timer))
		case core.Publish:
			namelessEvent(&text, e.Event)
		case core.Refuse:
			text.WriteString("refuse " + digits.ReplaceAllString(e.Reason, "n"))
		}
		text.WriteString("; ")
	}
	return text.String()
}

var digits = regexp.MustCompile(`\d+`)

func namelessEvent(text *strings.Builder, event core.Event) {
	switch e := event.(type) {
	case core.HAProxyPodsDiscovered:
		fmt.Fprintf(text, "discovered %v %s %t +%v ~%v -%v %t", e.Fleet.Endpoints(), e.Trigger,
			e.Replay, e.Added, e.Updated, e.Removed, e.CredentialsChanged)
	case core.HAProxyPodRejected:
		e.Attempt, e.RetryIn = min(e.Attempt, 1), min(e.RetryIn, 1)
		fmt.Fprintf(text, "%+v", e)
	default:
		fmt.Fprintf(text, "%+v", e)
	}
}

func purpose(state core.State, timer core.TimerID) string {
	switch timer {
	case state.PublishTimer():
		return "publish timer"
	case state.FirstPublishTimer():
		return "first publish timer"
	}
	for id, key := range state.RetryTimers() {
		if id == timer {
			return "retry timer of " + key.String()
		}
	}
	return "timer of nobody"
}

// comparison explores a world one state after the other, and compares each state that is merged
// into another one with that.
type comparison struct {
	world      World
	digester   *digester
	behaviours map[digest]behaviour
	// texts are what each state says, numbers included; compared counts those that differ from the
	// one they are merged into.
	texts    map[string]bool
	compared int
}

func compareMerged(world World, digester *digester) (states, compared int, difference string) {
	c := &comparison{
		world: world, digester: digester, behaviours: map[digest]behaviour{}, texts: map[string]bool{},
	}
	start, _ := world.follow(core.Reduce, nil)
	c.take(start)
	for frontier := []core.State{start}; len(frontier) > 0; frontier = frontier[1:] {
		for _, input := range world.alphabet(frontier[0]) {
			after, _ := core.Reduce(frontier[0], input)
			isNew, difference := c.take(after)
			if difference != "" {
				return len(c.behaviours), c.compared, difference
			}
			if isNew {
				frontier = append(frontier, after)
			}
		}
	}
	return len(c.behaviours), c.compared, ""
}

func (c *comparison) take(state core.State) (isNew bool, difference string) {
	text := invariant.Fingerprint(state)
	if c.texts[text] {
		return false, ""
	}
	c.texts[text] = true
	digest := c.digester.sum(state)
	is := behaviourOf(c.world, c.digester, state)
	was, found := c.behaviours[digest]
	if !found {
		c.behaviours[digest] = is
		return true, ""
	}
	c.compared++
	if !slices.Equal(is, was) {
		return false, fmt.Sprintf("merged, but\n%s\nis not\n%s",
			strings.Join(is, "\n"), strings.Join(was, "\n"))
	}
	return false, ""
}

func TestMergedStatesBehaveAlike(t *testing.T) {
	for _, world := range smallWorlds() {
		states, compared, difference := compareMerged(world, newDigester())
		t.Logf("%s: %d states, %d others merged into them", world.Name, states, compared)
		if difference != "" {
			t.Errorf("%s: %s", world.Name, difference)
		}
		if compared < states {
			t.Errorf("%s: only %d states were merged into %d", world.Name, compared, states)
		}
	}
}

// The comparison is honest: it finds what a digest leaves out wrongly.
func TestCoarseDigestIsFound(t *testing.T) {
	for _, test := range []struct {
		leftOut string
		world   World
		at      int
		coarse  section
	}{
		{"the order of the queues", pair(), 4, queuesWithoutOrder},
		{"whether a cancelled probe is a retry", pair(), 3, probesWithoutRetry},
		{"the credentials of a probe", pair(), 3, probesWithoutCredentials},
		{"everything that is known of pods", opening(), 1, nothingAtAll},
		{"whether a sync was ever seen", opening(), 0, gateWithoutSyncSeen},
	} {
		t.Run(test.leftOut, func(t *testing.T) {
			digester := newDigester()
			digester.sections = slices.Clone(sections)
			digester.sections[test.at] = test.coarse
			if _, _, difference := compareMerged(test.world, digester); difference == "" {
				t.Error("nobody notices")
			}
		})
	}
}

func nothingAtAll(*digester, core.State) {}

func queuesWithoutOrder(d *digester, state core.State) {
	keys := slices.AppendSeq(slices.Collect(state.FirstAttempts()), state.Retries())
	slices.SortFunc(keys, core.PodKey.Compare)
	for _, key := range keys {
		d.key(key)
	}
}

func probesWithoutRetry(d *digester, state core.State) {
	for _, probe := range sortedProbes(state) {
		d.identity(probe.Identity)
		d.credential(probe.Credentials)
		d.flags(probe.Retry && !probe.Cancelled, probe.Cancelled)
	}
}

func probesWithoutCredentials(d *digester, state core.State) {
	for _, probe := range sortedProbes(state) {
		d.identity(probe.Identity)
		d.flags(probe.Retry, probe.Cancelled)
	}
}

func sortedProbes(state core.State) []core.OutstandingProbe {
	probes := state.Probes()
	slices.SortFunc(probes, compareProbes)
	return probes
}

func gateWithoutSyncSeen(d *digester, state core.State) {
	settings, configured := state.Settings()
	d.flags(configured, state.GateOpen(), state.StoreSet(), state.StoreSynced())
	d.string(fmt.Sprint(settings))
	d.credential(state.Credentials())
}

// However far a walk goes, a state that has the digest of an earlier one behaves like that.
func TestReturningBehavesAlike(t *testing.T) {
	worlds := allWorlds()
	digester := newDigester()
	returns := 0
	rapid.Check(t, func(t *rapid.T) {
		world := rapid.SampledFrom(worlds).Draw(t, "world")
		state, _ := world.follow(core.Reduce, nil)
		earlier := map[digest]core.State{}
		for range 60 {
			digest := digester.sum(state)
			if was, found := earlier[digest]; found {
				returns++
				is, was := behaviourOf(world, digester, state), behaviourOf(world, digester, was)
				if !slices.Equal(is, was) {
					t.Fatalf("%s\nis not\n%s", strings.Join(is, "\n"), strings.Join(was, "\n"))
				}
			} else {
				earlier[digest] = state
			}
			inputs := world.alphabet(state)
			state, _ = core.Reduce(state, rapid.SampledFrom(inputs).Draw(t, "input"))
		}
	})
	t.Logf("%d returns", returns)
	if returns == 0 {
		t.Error("no walk has ever returned")
	}
}
