package shell

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell/internal/loopback"
)

// listingProber answers for every agent and lists whom it was asked for. It is read while nothing
// runs.
type listingProber struct{ probed []core.Identity }

func (p *listingProber) Probe(_ context.Context, probe core.StartProbe) core.Outcome {
	p.probed = append(p.probed, probe.Identity)
	return core.Answer{Version: "3.4.3"}
}

// R11: a runtime that restarts and spells its images in another way has restarted no container, and
// neither has a native sidecar beside the agent that crashes and returns. When the agent does, as a
// native sidecar itself, it is terminated once and probed once.
func TestNativeSidecarsRestart(t *testing.T) {
	running := map[string]any{"running": map[string]any{}}
	crashed := map[string]any{"waiting": map[string]any{"reason": "CrashLoopBackOff"}}
	status := func(name, id string, state any) map[string]any {
		return map[string]any{
			"name": name, "imageID": "sha256:1", "containerID": "containerd://" + id, "state": state,
		}
	}
	pod := func(inits ...any) *unstructured.Unstructured {
		pod := loopback.Pod("hap-0", "u0", "10.1.0.10")
		fields := pod.Object["status"].(map[string]any)
		fields["containerStatuses"] = []any{status("haproxy", "h1", running)}
		fields["initContainerStatuses"] = inits
		return pod
	}
	agent, shipper := status("agent", "a1", running), status("shipper", "s1", running)
	respelled := status("agent", "a1", running)
	respelled["imageID"] = "registry.example/agent@sha256:1"

	synctest.Test(t, func(t *testing.T) {
		store, prober := newTestStore(pod(agent, shipper)), &listingProber{}
		r := newRunning(t, New(nil, nil, WithProber(prober), WithDriftInterval(time.Minute)))
		configure(r.Component, 5555)
		r.SetPodStore(store)
		r.begin()
		r.expectFleet("u0")
		told := len(r.received())
		for _, inits := range [][]any{
			{respelled, shipper},
			{respelled, status("shipper", "s1", crashed)},
			{respelled, status("shipper", "s2", running)},
		} {
			r.changed(store.Set(pod(inits...)))
			r.expectFleet("u0")
		}
		if events := r.received()[told:]; len(events) != 0 || len(prober.probed) != 1 {
			t.Errorf("events %+v, probes %+v", events, prober.probed)
		}

		r.changed(store.Set(pod(status("agent", "a1", crashed), shipper)))
		r.expectFleet()
		r.changed(store.Set(pod(status("agent", "a2", running), shipper)))
		r.expectFleet("u0")
		isTerminated := func(event core.Event) bool { _, is := event.(core.HAProxyPodTerminated); return is }
		terminated := slices.IndexFunc(r.received(), isTerminated)
		if terminated < 0 || slices.ContainsFunc(r.received()[terminated+1:], isTerminated) {
			t.Errorf("not exactly one termination in %+v", r.received())
		}
		if len(prober.probed) != 2 || prober.probed[0] == prober.probed[1] {
			t.Errorf("probes %+v", prober.probed)
		}
	})
}
