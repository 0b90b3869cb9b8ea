package effects_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/effects"
)

// A subscriber that reads late finds every termination and the newest fleet.
func ExamplePublisher() {
	endpoint := func(name, uid string) core.Endpoint {
		return core.Endpoint{Identity: core.Identity{Namespace: "lb", Name: name, UID: uid}}
	}
	old, successor := endpoint("hap-0", "u0"), endpoint("hap-0", "u9")
	publisher := effects.NewPublisher()
	subscription := publisher.Subscribe("deployer")
	for _, event := range []core.Event{
		core.HAProxyPodsDiscovered{Generation: 1, Fleet: core.NewFleet(core.Credentials{}, old)},
		core.HAProxyPodTerminated{Identity: old.Identity, Cause: core.CauseReplaced},
		core.HAProxyPodsDiscovered{Generation: 2},
		core.HAProxyPodsDiscovered{Generation: 3, Fleet: core.NewFleet(core.Credentials{}, successor)},
	} {
		publisher.Publish(time.Now(), event)
	}
	publisher.Close()

	for {
		delivery, err := subscription.Next(context.Background())
		if errors.Is(err, effects.ErrClosed) {
			return
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		switch e := delivery.Event.(type) {
		case core.HAProxyPodTerminated:
			fmt.Println("terminated", e.Key(), e.UID, e.Cause)
		case core.HAProxyPodsDiscovered:
			fmt.Println("generation", e.Generation, "has", e.Fleet.Len(), "and adds", e.Added)
		}
	}
	// Output:
	// terminated lb/hap-0 u0 replaced
	// generation 3 has 1 and adds [lb/hap-0]
}
