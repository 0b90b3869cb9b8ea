package shell

import (
	"fmt"
	"testing"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/core/intake"
)

func TestInboxKeepsOrderAndOnePlaceForALookAtTheStore(t *testing.T) {
	b := newInbox()
	key := core.PodKey{Namespace: "lb", Name: "hap-0"}
	b.putInput(core.ConfigValidated{AgentPort: 1})
	b.ask(intake.PodsNamed{Keys: []core.PodKey{key}}) // of no store: nothing to look at
	b.putStore(PodSlice{})
	for range 1000 {
		b.ask(intake.PodsNamed{Keys: []core.PodKey{key}})
		b.ask(intake.DriftTick{})
		b.ask(intake.SyncComplete{})
	}
	b.putInput(core.ConfigValidated{AgentPort: 2})
	b.ask(intake.PodsNamed{Keys: []core.PodKey{{Namespace: "lb", Name: "hap-1"}}})
	b.putStore(PodSlice{})
	var got []string
	for next := b.take(); next != nil; next = b.take() {
		got = append(got, fmt.Sprintf("%T%v", next, next))
	}
	want := "[core.ConfigValidated{1 } shell.lookAtStore{} core.ConfigValidated{2 }]"
	if fmt.Sprint(got) != want {
		t.Errorf("got  %v\nwant %s", got, want)
	}
	b.ask(intake.DriftTick{})
	if _, is := b.take().(lookAtStore); !is {
		t.Error("what is asked after a look was taken up is lost")
	}
}

// A look reads once at most: what is asked for meanwhile waits behind the other entries.
func TestALookThatIsLeftWithWorkWaitsItsTurn(t *testing.T) {
	b := newInbox()
	b.putStore(PodSlice{})
	b.take()
	state := core.New(core.Config{})
	action, _ := b.next(state)
	b.ask(intake.DriftTick{})
	b.putInput(core.BecameLeader{})
	b.answer(intake.ListRead{Store: action.(intake.ReadList).Store, Synced: core.SyncDone})
	for action != nil {
		if tell, is := action.(intake.Tell); is {
			state, _ = core.Reduce(state, tell.Input)
		}
		action, _ = b.next(state)
	}
	kinds := fmt.Sprintf("%T %T %T", b.take(), b.take(), b.take())
	if kinds != "shell.lookAtStore core.BecameLeader <nil>" {
		t.Errorf("%s wait", kinds)
	}
}

// Before Start nobody takes anything: what is told over and over must not pile up.
func TestInboxKeepsOneOfEqualInputsInARow(t *testing.T) {
	b := newInbox()
	pods := core.ResourceIndexUpdated{Upserted: []*core.Pod{{}}} // cannot be compared
	b.putInput(pods)
	for range 1000 {
		b.putInput(core.BecameLeader{})
	}
	for range 1000 {
		b.putInput(core.ConfigValidated{AgentPort: 1})
	}
	b.putInput(core.ConfigValidated{AgentPort: 2}) // the port changed, and changed back
	b.putInput(core.ConfigValidated{AgentPort: 1})
	b.putInput(core.CredentialsUpdated{})
	b.putInput(core.BecameLeader{})
	b.putInput(pods)
	b.putInput(pods)
	var got []string
	for next := b.take(); next != nil; next = b.take() {
		got = append(got, fmt.Sprintf("%T", next))
	}
	want := "[core.ResourceIndexUpdated core.BecameLeader core.ConfigValidated core.ConfigValidated" +
		" core.ConfigValidated core.CredentialsUpdated core.BecameLeader core.ResourceIndexUpdated" +
		" core.ResourceIndexUpdated]"
	if fmt.Sprint(got) != want {
		t.Errorf("got  %v\nwant %s", got, want)
	}
}
