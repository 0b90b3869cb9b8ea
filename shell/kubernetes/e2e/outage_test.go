package e2e

import (
	"testing"

	"github.com/haproxy-discovery/haproxy-discovery/shell/kubernetes/e2e/internal/testbed"
)

func newProxy(t *testing.T, w *world) *testbed.Proxy {
	t.Helper()
	proxy := testbed.NewProxy(w.controlPlane.Address())
	check(t, proxy.Restore())
	t.Cleanup(proxy.Cut)
	return proxy
}
