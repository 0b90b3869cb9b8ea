package effects

import (
	"fmt"
	"strings"
	"testing"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// What R30 promises to a subscriber that reads slowly, rule by rule. The random histories are in
// publisher_property_test.go.

func TestSubscriberThatKeepsUpReceivesEveryEventAsTold(t *testing.T) {
	p := NewPublisher()
	s := p.Subscribe("test")
	first := discovered(core.HAProxyPodsDiscovered{}, "a1")
	events := []core.Event{
		first, rejected("b", 1), rejected("b", 2), replayed(first), terminated("a1"), discovered(first),
	}
	for _, event := range events {
		p.Publish(noon, event)
		delivery, err := s.Next(t.Context())
		if err != nil || !same(delivery.Event, event) || !delivery.Time.Equal(noon) {
			t.Errorf("got %v, %v instead of %v", delivery, err, event)
		}
	}
}

func TestSlowSubscriberReceivesTheNewestBehindEveryTermination(t *testing.T) {
	p := NewPublisher()
	s := p.Subscribe("test")
	p1 := discovered(core.HAProxyPodsDiscovered{}, "a1", "b1")
	publish(p, p1)
	expect(t, s, "P1[a1,b1]+a+b")
	p2 := discovered(p1, "b1")
	p3 := discovered(p2, "a2", "b1")
	publish(p, rejected("c", 1), terminated("a1"), p2, rejected("d", 1),
		p3, rejected("c", 2), terminated("b1"), discovered(p3, "a2"))
	expect(t, s, "T(a1)", "R(d#1)", "R(c#2)", "T(b1)", "P4[a2]+a-a-b")
}

// A publication that waits stays ahead of terminations told after it.
func TestTerminationDoesNotOvertakeAPublication(t *testing.T) {
	p := NewPublisher()
	s := p.Subscribe("test")
	publish(p, discovered(core.HAProxyPodsDiscovered{}, "a1"), terminated("a1"))
	expect(t, s, "P1[a1]+a", "T(a1)")
}

// The reader has dropped a1 and would not learn from an empty list that it is back.
func TestEndpointThatCameBackUnseenIsRemovedAndAdded(t *testing.T) {
	p := NewPublisher()
	s := p.Subscribe("test")
	p1 := discovered(core.HAProxyPodsDiscovered{}, "a1", "b1", "c1")
	publish(p, p1)
	drain(t, s)
	p2 := discovered(p1, "b1")
	p3 := discovered(p2, "b1", "c1")
	publish(p, terminated("a1"), terminated("c1"), p2, p3)
	expect(t, s, "T(a1)", "T(c1)", "P3[b1,c1]+c-a-c")
}

// Its termination is told all the same: none is ever lost.
func TestEndpointOfASkippedPublicationIsInNoList(t *testing.T) {
	p := NewPublisher()
	s := p.Subscribe("test")
	p1 := discovered(core.HAProxyPodsDiscovered{}, "a1")
	publish(p, p1)
	drain(t, s)
	p2 := discovered(p1, "a1", "b1")
	publish(p, p2, terminated("b1"), discovered(p2, "a1"))
	expect(t, s, "T(b1)", "P3[a1]")
}

func TestSkippedChangeOfVersionIsAnUpdate(t *testing.T) {
	p := NewPublisher()
	s := p.Subscribe("test")
	p1 := discovered(core.HAProxyPodsDiscovered{}, "a1")
	publish(p, p1)
	drain(t, s)
	p2 := following(p1, core.NewFleet(core.Credentials{},
		core.Endpoint{Identity: identity("a1"), Version: core.ParseVersion("3.4.3")}))
	publish(p, p2, following(p2, p2.Fleet))
	expect(t, s, "P3[a1]~a")
}

func TestSkippedChangeOfCredentialsIsTold(t *testing.T) {
	one, two := testCredentials(t, "one"), testCredentials(t, "two")
	a1 := core.Endpoint{Identity: identity("a1")}
	p1 := following(core.HAProxyPodsDiscovered{}, core.NewFleet(one, a1))
	p2 := following(p1, core.NewFleet(two, a1))
	for _, test := range []struct {
		name string
		then core.HAProxyPodsDiscovered
		want string
	}{
		{"and kept", following(p2, core.NewFleet(two, a1)), "P3[a1] credentials"},
		{"and taken back", following(p2, core.NewFleet(one, a1)), "P3[a1] credentials"},
		{"and replayed", replayed(p2), "P2[a1] credentials"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := NewPublisher()
			s := p.Subscribe("test")
			publish(p, p1)
			drain(t, s)
			publish(p, p2, test.then)
			expect(t, s, test.want)
		})
	}
}

func TestReplayIsOneOnlyForWhoHasReceivedTheGeneration(t *testing.T) {
	p := NewPublisher()
	s := p.Subscribe("test")
	p1 := discovered(core.HAProxyPodsDiscovered{}, "a1")
	p2 := discovered(p1, "a1", "b1")
	publish(p, p1)
	expect(t, s, "P1[a1]+a")
	publish(p, p2, replayed(p2))
	expect(t, s, "P2[a1,b1]+b")
	publish(p, replayed(p2), replayed(p2))
	expect(t, s, "P2[a1,b1] replay")
	publish(p, replayed(p2), discovered(p2, "a1", "b1", "c1"))
	expect(t, s, "P3[a1,b1,c1]+c")
}

func TestLateSubscriberIsToldTheWholeFleetAsNew(t *testing.T) {
	p1 := discovered(core.HAProxyPodsDiscovered{}, "a1")
	p2 := discovered(p1, "a1", "b1")
	for _, test := range []struct {
		name string
		then []core.Event
		want []string
	}{
		{"a publication", []core.Event{p2}, []string{"P2[a1,b1]+a+b"}},
		{"publications, coalesced", []core.Event{p2, following(p2, p2.Fleet)},
			[]string{"P3[a1,b1]+a+b"}},
		{"a replay", []core.Event{replayed(p1)}, []string{"P1[a1]+a"}},
		{"a termination first", []core.Event{terminated("a1"), discovered(p1, "b1")},
			[]string{"T(a1)", "P2[b1]+b"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := NewPublisher()
			publish(p, p1)
			s := p.Subscribe("late")
			publish(p, test.then...)
			expect(t, s, test.want...)
		})
	}
}

func TestRejectionsOfEverNewPodsAreBounded(t *testing.T) {
	p := NewPublisher()
	s := p.Subscribe("stuck")
	publish(p, rejected("x", 1), rejected("y", 1), rejected("x", 2), terminated("a1"))
	for i := range maxRejected - 1 {
		publish(p, rejected(fmt.Sprint(i), 1))
	}
	publish(p, rejected("0", 2)) // a pod that waits already needs no room
	if s.Lag() != maxRejected+1 || s.DiscardedRejections() != 1 {
		t.Errorf("%d waiting, %d discarded", s.Lag(), s.DiscardedRejections())
	}
	got := drain(t, s)
	if start := strings.Join(got[:3], " "); start != "R(x#2) T(a1) R(1#1)" {
		t.Errorf("starts with %s: the rejection discarded is not the oldest", start)
	}
	if last := got[len(got)-1]; last != "R(0#2)" {
		t.Errorf("ends with %s", last)
	}
	if kept := len(s.outbox.rejected.places); kept != 0 {
		t.Errorf("%d pods are remembered though nothing waits", kept)
	}
	s.Close()
	if discarded := s.DiscardedRejections(); discarded != 1 {
		t.Errorf("%d discarded after Close", discarded)
	}
}
