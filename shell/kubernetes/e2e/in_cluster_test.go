package e2e

import (
	"testing"

	"github.com/haproxy-discovery/haproxy-discovery/shell/kubernetes/e2e/internal/testbed"
)

// Without a kubeconfig the pod's service account tells where the API server is, and the namespace.
func TestInCluster(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.permit("replica", readPods, readTheSecret)
	other := newWorld(t)
	other.launchMany(2)
	pods := w.launchMany(3)
	d := w.discoverIn(w.container(w.token("replica")))
	d.AwaitPods(pods...)
	mark := d.Mark()
	check(t, pods[0].Remove(w.ctx))
	d.AwaitPods(pods[1:]...)
	expectTerminations(t, d, mark, pods[0])
}

// A pod whose service account is not mounted, or no longer good, is told so in one line.
func TestInClusterRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		token string
		want  []string
	}{
		"no token":      {"", []string{"neither", "a pod's service account"}},
		"another token": {"nobody's", []string{"Unauthorized"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			expectRefusal(t, w.discoverIn(w.container(test.token), "--log-level", "error"), test.want...)
		})
	}
}

// container is one of a pod in this namespace. An empty token stands for none.
func (w *world) container(token string) *testbed.Container {
	w.t.Helper()
	container, err := w.controlPlane.NewContainer(w.t.TempDir(), w.namespace)
	check(w.t, err)
	if token != "" {
		check(w.t, container.SetToken(token))
	}
	return container
}

// discoverIn starts the program in a container, and has it find the cluster by itself.
func (w *world) discoverIn(container *testbed.Container, arguments ...string) *testbed.Discovery {
	w.t.Helper()
	return testbed.StartDiscoveryIn(w.t, container, w.secrets, append([]string{
		"run", "-o", "json", "--log-level", "debug", "--agent-port", w.agentPort(),
	}, arguments...)...)
}
