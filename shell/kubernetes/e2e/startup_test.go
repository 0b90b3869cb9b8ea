package e2e

import (
	"testing"

	"github.com/haproxy-discovery/haproxy-discovery/shell/kubernetes/e2e/internal/testbed"
)

// A replica that starts during an outage waits, and says once what it waits for.
func TestAPIServerComesLater(t *testing.T) {
	t.Parallel()
	controlPlane := newControlPlane(t)
	w := newWorldOn(t, controlPlane, nil)
	pods := w.launchMany(3)
	controlPlane.Kill()

	d := w.discover()
	d.AwaitLog("out of reach at the start")
	check(t, controlPlane.Start(w.ctx))
	d.AwaitPods(pods...)
	d.AwaitLog("contact with the API server again")
	expectTerminations(t, d, 0)
}

// With --once nobody waits.
func TestOnceWithoutAPIServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	proxy := testbed.NewProxy(w.controlPlane.Address()) // cut
	d := w.discoverAs(testbed.Access{Server: proxy.Address()}, "--once", "--log-level", "error")
	if status := d.AwaitExit(); status != 1 {
		t.Errorf("exit status %d, want 1", status)
	}
	expectOneLine(t, d, "is the API server up", proxy.Address())
}

func TestOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pods := w.launchMany(3)
	d := w.discover("--once")
	if status := d.AwaitExit(); status != 0 {
		t.Errorf("exit status %d, want 0", status)
	}
	d.AwaitPods(pods...)
}
