package core_test

import (
	"fmt"
	"net/netip"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// A fleet of one pod, replaced under its name: retired at once, in again when its agent has
// answered. Whoever runs the core performs the effects; here they are only printed.
func Example() {
	pod := func(uid string) *core.Pod {
		return &core.Pod{
			Key: core.PodKey{Namespace: "lb", Name: "hap-0"}, UID: uid, Phase: core.PhaseRunning,
			IP: netip.MustParseAddr("10.1.0.10"), Agent: core.AgentRunning,
		}
	}
	credentials, err := core.NewCredentials("admin", "a-password")
	if err != nil {
		fmt.Println(err)
		return
	}
	state := core.New(core.DefaultConfig())
	for _, input := range []core.Input{
		core.ConfigValidated{AgentPort: 5555},
		core.CredentialsUpdated{Credentials: credentials},
		core.PodStoreSet{Pods: []*core.Pod{pod("u1")}, Synced: core.SyncDone},
		core.ProbeFinished{Probe: 1, Outcome: core.Answer{Version: "3.4.3"}},
		core.ResourceIndexUpdated{Resource: core.HAProxyPods, Upserted: []*core.Pod{pod("u2")}},
	} {
		fmt.Printf("%T\n", input)
		var effects []core.Effect
		state, effects = core.Reduce(state, input)
		for _, effect := range effects {
			switch e := effect.(type) {
			case core.StartProbe:
				fmt.Println("  ask", e.Identity.URL, "of", e.Identity.UID, "as", e.Credentials)
			case core.Publish:
				printExampleEvent(e.Event)
			}
		}
	}
	// Output:
	// core.ConfigValidated
	// core.CredentialsUpdated
	// core.PodStoreSet
	//   ask http://10.1.0.10:5555 of u1 as admin:[redacted]
	// core.ProbeFinished
	//   fleet 1 has 1 endpoints
	// core.ResourceIndexUpdated
	//   u1 is terminated: replaced
	//   fleet 2 has 0 endpoints
	//   ask http://10.1.0.10:5555 of u2 as admin:[redacted]
}

func printExampleEvent(event core.Event) {
	switch e := event.(type) {
	case core.HAProxyPodsDiscovered:
		fmt.Println("  fleet", e.Generation, "has", e.Fleet.Len(), "endpoints")
	case core.HAProxyPodTerminated:
		fmt.Println(" ", e.UID, "is terminated:", e.Cause)
	}
}
