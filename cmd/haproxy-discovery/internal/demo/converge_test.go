package demo

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/samber/lo"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell"
)

// Once the script is over, discovery finds every agent that answers, and nobody else.
func TestEveryHealthyPodIsDiscovered(t *testing.T) {
	fleet, err := NewFleet(Options{Pods: 5, Hung: 1, Duration: 3 * time.Second, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer fleet.Close()
	fleet.tick = time.Second / 4
	component := shell.New(nil, nil)
	events := component.Subscribe("test")
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	ended := make(chan error, 1)
	go func() { ended <- component.Start(ctx) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	if err := fleet.Run(ctx, component, func(string) {}); err != nil {
		t.Fatal(err)
	}
	answering := lo.Reject(fleet.healthy(), func(p *pod, _ int) bool { return p.terminating })
	want := lo.Map(answering, func(p *pod, _ int) string { return p.uid })
	slices.Sort(want)
	var got []string
	for !slices.Equal(got, want) {
		delivery, err := events.Next(ctx)
		if err != nil {
			t.Fatalf("%v: the fleet is %v instead of %v", err, got, want)
		}
		if discovered, is := delivery.Event.(core.HAProxyPodsDiscovered); is {
			got = lo.Map(discovered.Fleet.Endpoints(), func(e core.Endpoint, _ int) string { return e.UID })
			slices.Sort(got)
		}
	}
}
