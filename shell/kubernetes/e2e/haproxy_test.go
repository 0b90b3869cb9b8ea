package e2e

import (
	"slices"
	"testing"

	"github.com/haproxy-discovery/haproxy-discovery/shell/kubernetes/e2e/internal/testbed"
)

// An agent is there before its HAProxy is: it is admitted without a version, which discovery learns
// as soon as there is one. It is the version of the HAProxy that runs.
func TestVersionOfARealHAProxy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	haproxy, err := testbed.NewHAProxy()
	check(t, err)
	t.Cleanup(func() { _ = haproxy.Close() })
	installed, err := haproxy.Version()
	check(t, err)

	pod := w.launch(testbed.Wish{Name: "haproxy-0", Answer: haproxy.Answer})
	d := w.discover()
	expectVersion(d, pod, "")
	mark := d.Mark()
	check(t, haproxy.Start())
	d.Await(mark, "an update of the endpoint", func(event testbed.Event) bool {
		return slices.Contains(event.Updated, w.namespace+"/"+pod.Name)
	})
	expectVersion(d, pod, installed)
	expectTerminations(t, d, mark)
	t.Logf("discovered HAProxy %s", installed)

	check(t, pod.RestartContainer(w.ctx))
	d.AwaitTerminated(mark, pod)
	expectVersion(d, pod, installed)
	expectTerminations(t, d, mark, pod)
}

func expectVersion(d *testbed.Discovery, pod *testbed.Pod, version string) {
	d.AwaitFleet("version "+version, func(fleet testbed.Fleet) bool {
		endpoint, found := fleet[pod.Name]
		return found && endpoint.UID == pod.UID && endpoint.Version == version
	})
}
