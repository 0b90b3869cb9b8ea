package effects

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// identity is that of an incarnation named like "a1": pod a, UID a1.
func identity(uid string) core.Identity {
	return core.Identity{Namespace: "lb", Name: uid[:1], UID: uid, URL: "http://127.0.0.1:1"}
}

func fleetOf(uids ...string) core.Fleet {
	var endpoints []core.Endpoint
	for _, uid := range uids {
		endpoints = append(endpoints, core.Endpoint{Identity: identity(uid)})
	}
	return core.NewFleet(core.Credentials{}, endpoints...)
}

// discovered is what the reducer would tell after was; the first one follows the zero value.
func discovered(was core.HAProxyPodsDiscovered, uids ...string) core.HAProxyPodsDiscovered {
	return following(was, fleetOf(uids...))
}

func following(was core.HAProxyPodsDiscovered, fleet core.Fleet) core.HAProxyPodsDiscovered {
	diff := fleet.DiffFrom(was.Fleet)
	return core.HAProxyPodsDiscovered{
		Fleet: fleet, Generation: was.Generation + 1, Trigger: core.TriggerResourceIndexUpdated,
		Added: diff.Added, Updated: diff.Updated, Removed: diff.Removed,
		CredentialsChanged: was.Generation > 0 && was.Fleet.Credentials() != fleet.Credentials(),
	}
}

// replayed is what a new leader is told after was.
func replayed(was core.HAProxyPodsDiscovered) core.HAProxyPodsDiscovered {
	return core.HAProxyPodsDiscovered{
		Fleet: was.Fleet, Generation: was.Generation, Trigger: core.TriggerBecameLeader, Replay: true,
	}
}

func terminated(uid string) core.HAProxyPodTerminated {
	return core.HAProxyPodTerminated{Identity: identity(uid), Cause: core.CauseDeleted}
}

func rejected(pod string, attempt int) core.HAProxyPodRejected {
	return core.HAProxyPodRejected{Namespace: "lb", Name: pod, Attempt: attempt}
}

// brief writes an event like P3[a1,b1]+a-b, T(a1), R(a#2).
func brief(event core.Event) string {
	switch e := event.(type) {
	case core.HAProxyPodsDiscovered:
		var uids []string
		for endpoint := range e.Fleet.All() {
			uids = append(uids, endpoint.UID)
		}
		text := fmt.Sprintf("P%d[%s]", e.Generation, strings.Join(uids, ","))
		for _, list := range []struct {
			sign string
			keys []core.PodKey
		}{{"+", e.Added}, {"~", e.Updated}, {"-", e.Removed}} {
			for _, key := range list.keys {
				text += list.sign + key.Name
			}
		}
		if e.Replay {
			text += " replay"
		}
		if e.CredentialsChanged {
			text += " credentials"
		}
		return text
	case core.HAProxyPodTerminated:
		return "T(" + e.UID + ")"
	case core.HAProxyPodRejected:
		return fmt.Sprintf("R(%s#%d)", e.Name, e.Attempt)
	}
	return "?"
}

// drain receives everything that waits.
func drain(t rapid.TB, s *Subscription) []string {
	t.Helper()
	var got []string
	for s.Lag() > 0 {
		got = append(got, brief(receive(t, s)))
	}
	return got
}

func receive(t rapid.TB, s *Subscription) core.Event {
	t.Helper()
	delivery, err := s.Next(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return delivery.Event
}

// expect receives everything that waits and compares.
func expect(t *testing.T, s *Subscription, want ...string) {
	t.Helper()
	if got := drain(t, s); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func publish(p *Publisher, events ...core.Event) {
	for _, event := range events {
		p.Publish(noon, event)
	}
}
