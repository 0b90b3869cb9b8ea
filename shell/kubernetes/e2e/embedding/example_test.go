package embedding_test

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell/kubernetes/e2e/embedding"
	"github.com/haproxy-discovery/haproxy-discovery/shell/kubernetes/e2e/internal/testbed"
)

// The main function of a program, but for the cluster: that is the tests' own, with one pod.
func Example() {
	ctx, stop := context.WithTimeout(context.Background(), testbed.Patience)
	defer stop()
	world, pod, err := exampleWorld(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer world.close()

	cluster, err := world.connect()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer cluster.Close()
	bus := embedding.NewBus()
	controller, err := embedding.New(
		bus, cluster, podSelector, world.terms("replica-1"), slog.New(slog.DiscardHandler))
	if err != nil {
		fmt.Println(err)
		return
	}
	bus.Send(core.ConfigValidated{AgentPort: world.agents.Port(), PodSelector: podSelector})
	bus.Send(core.CredentialsUpdated{Credentials: world.credentials})
	bus.Send(embedding.Configuration("maxconn 1000"))
	go func() { // a signal, elsewhere
		defer stop()
		for len(pod.Agent.Configurations()) == 0 && ctx.Err() == nil {
			time.Sleep(10 * time.Millisecond)
		}
	}()
	if err := controller.Run(ctx); err != nil {
		fmt.Println(err)
	}

	for _, written := range pod.Agent.Configurations() {
		fmt.Printf("%s has %q, by %s\n", pod.Name, written.Text, written.By)
	}
	// Output: haproxy-0 has "maxconn 1000", by replica-1
}

func exampleWorld(ctx context.Context) (*world, *testbed.Pod, error) {
	world, err := newWorld(ctx)
	if err != nil {
		return nil, nil, err
	}
	pod, err := world.kubelet.Launch(ctx, testbed.Wish{Name: "haproxy-0"})
	return world, pod, err
}
