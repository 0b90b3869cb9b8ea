package demo

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/effects"
	"github.com/haproxy-discovery/haproxy-discovery/shell"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// play performs a demo that runs five times as fast, and gives its narration and its events.
func play(t *testing.T, options Options) (narration []string, events []core.Event) {
	t.Helper()
	fleet, err := NewFleet(options)
	if err != nil {
		t.Fatal(err)
	}
	defer fleet.Close()
	fleet.tick = time.Second / 5
	component := shell.New(nil, nil)
	subscription := component.Subscribe("test")
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := component.Start(ctx); err != nil {
			t.Error(err)
		}
	})
	running.Go(func() {
		for {
			delivery, err := subscription.Next(context.Background())
			if errors.Is(err, effects.ErrClosed) {
				return
			}
			events = append(events, delivery.Event)
		}
	})
	if err := fleet.Run(ctx, component, func(line string) { narration = append(narration, line) }); err != nil {
		t.Error(err)
	}
	cancel()
	running.Wait()
	return narration, events
}

func TestEveryKindOfChurnShowsAndNoTerminatedEndpointComesBack(t *testing.T) {
	narration, events := play(t, Options{Pods: 5, Hung: 1, Duration: 4 * time.Second, Seed: 1})
	said := strings.Join(narration, "\n")
	for _, kind := range []string{"cold start", "rollout", "crash", "hang", "rotation", "leader", "heartbeat"} {
		if !strings.Contains(said, kind) {
			t.Errorf("no %s in:\n%s", kind, said)
		}
	}
	seen := map[string]bool{}
	terminated := map[core.Identity]bool{}
	biggest := 0
	for _, event := range events {
		switch e := event.(type) {
		case core.HAProxyPodTerminated:
			seen["terminated "+string(e.Cause)] = true
			terminated[e.Identity] = true
		case core.HAProxyPodRejected:
			seen["rejected "+string(e.Cause)] = true
		case core.HAProxyPodsDiscovered:
			biggest = max(biggest, e.Fleet.Len())
			seen["replay"] = seen["replay"] || e.Replay
			seen["credentials"] = seen["credentials"] || e.CredentialsChanged
			for endpoint := range e.Fleet.All() {
				if terminated[endpoint.Identity] {
					t.Errorf("generation %d holds %s, which was terminated", e.Generation, endpoint.UID)
				}
			}
		}
	}
	for _, want := range []string{
		"terminated replaced", "terminated terminating", "terminated agent_not_running",
		"terminated container_restarted", "rejected timeout", "replay", "credentials",
	} {
		if !seen[want] {
			t.Errorf("no %s; seen %v", want, seen)
		}
	}
	if biggest < 4 {
		t.Errorf("at most %d endpoints of 4 healthy pods", biggest)
	}
}

func TestTheSeedMakesTheScript(t *testing.T) {
	options := Options{Pods: 3, Duration: time.Second, Seed: 7}
	first, _ := play(t, options)
	again, _ := play(t, options)
	options.Seed = 8
	other, _ := play(t, options)
	if fmt.Sprint(first) != fmt.Sprint(again) {
		t.Errorf("the same seed:\n%q\n%q", first, again)
	}
	if fmt.Sprint(first) == fmt.Sprint(other) {
		t.Error("another seed makes the same script")
	}
}

func TestOptionsNameTheFlag(t *testing.T) {
	good := Options{Pods: 2, Hung: 2, Duration: time.Second}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	for flag, bad := range map[string]Options{
		"--pods":     {Pods: 0, Duration: 1},
		"--hung":     {Pods: 1, Hung: 2, Duration: 1},
		"--duration": {Pods: 1},
	} {
		if err := bad.Validate(); err == nil || !strings.Contains(err.Error(), flag) {
			t.Errorf("%s: %v", flag, err)
		}
	}
}
