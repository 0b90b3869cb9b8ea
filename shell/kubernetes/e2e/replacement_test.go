package e2e

import (
	"testing"

	"github.com/haproxy-discovery/haproxy-discovery/shell/kubernetes/e2e/internal/testbed"
)

// A StatefulSet's pod comes back under its name. The old UID ends before the new one is admitted,
// be it on the address of its predecessor or on another one.
func TestReplacementUnderTheSameName(t *testing.T) {
	t.Parallel()
	for name, sameIP := range map[string]bool{"same address": true, "other address": false} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			first := w.launch(testbed.Wish{Name: "haproxy-0", Answer: testbed.Running("3.4.3")})
			d := w.discover()
			d.AwaitPods(first)

			mark := d.Mark()
			check(t, first.Remove(w.ctx))
			wish := testbed.Wish{Name: "haproxy-0", Answer: testbed.Running("3.4.4")}
			if sameIP {
				wish.IP = first.IP
			}
			second := w.launch(wish)
			d.AwaitPods(second)
			d.AwaitFleet("the successor's version", func(fleet testbed.Fleet) bool {
				return fleet["haproxy-0"].Version == "3.4.4"
			})
			expectTerminations(t, d, mark, first)
		})
	}
}

// The predecessor is gone and its successor there before discovery hears of either.
func TestReplacementWhileOutOfContact(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	proxy := newProxy(t, w)
	first := w.launch(testbed.Wish{Name: "haproxy-0"})
	d := w.discoverAs(testbed.Access{Server: proxy.Address()})
	d.AwaitPods(first)

	proxy.Cut()
	mark := d.Mark()
	check(t, first.Remove(w.ctx))
	second := w.launch(testbed.Wish{Name: "haproxy-0", IP: first.IP})
	check(t, proxy.Restore())
	d.AwaitPods(second)
	expectTerminations(t, d, mark, first)
}

// A container that restarts keeps the pod's UID, and ends the authority all the same.
func TestContainerRestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pod := w.launch(testbed.Wish{Name: "haproxy-0"})
	d := w.discover()
	d.AwaitPods(pod)

	mark := d.Mark()
	check(t, pod.RestartContainer(w.ctx))
	event := d.AwaitTerminated(mark, pod)
	if event.Cause != "container_restarted" {
		t.Errorf("terminated because %s, want container_restarted", event.Cause)
	}
	d.AwaitFleet("the pod under another runtime ID", func(fleet testbed.Fleet) bool {
		endpoint, found := fleet[pod.Name]
		return found && endpoint.RuntimeID != event.RuntimeID
	})
}
