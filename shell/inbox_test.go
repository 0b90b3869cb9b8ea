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
