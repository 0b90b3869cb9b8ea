package shell

import (
	"fmt"
	"testing"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

func TestInboxKeepsOrderAndCoalescesWhatOnlyAsksToLook(t *testing.T) {
	b := newInbox()
	key := core.PodKey{Namespace: "lb", Name: "hap-0"}
	b.putInput(core.BecameLeader{})
	for range 1000 {
		b.putNamed([]core.PodKey{key})
		b.putList(driftTick)
		b.putList(syncComplete)
	}
	b.putInput(core.BecameLeader{})
	b.putNamed([]core.PodKey{{Namespace: "lb", Name: "hap-1"}})
	b.putStore(PodSlice{})
	var got []string
	for next := b.take(); next != nil; next = b.take() {
		got = append(got, fmt.Sprintf("%T%v", next, next))
	}
	want := "[core.BecameLeader{} shell.readNamed{[{lb hap-0} {lb hap-1}]} shell.readList{0}" +
		" shell.readList{1} core.BecameLeader{} shell.swapStore{[]}]"
	if fmt.Sprint(got) != want {
		t.Errorf("got  %v\nwant %s", got, want)
	}
	b.putNamed([]core.PodKey{key})
	if request, is := b.take().(readNamed); !is || len(request.keys) != 1 {
		t.Error("a key named again after it was taken is lost")
	}
	b.putNamed(nil)
	if b.take() != nil {
		t.Error("no key at all asks for a look")
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
