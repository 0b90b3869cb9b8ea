package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

const leasePath = "/apis/coordination.k8s.io/v1/namespaces/lb/leases/haproxy-discovery"

// candidate is a replica that takes part in an election.
type candidate struct {
	*Leadership
	led  chan struct{}
	stop func() time.Duration
}

func (s *apiServer) election(identity string) Election {
	return Election{
		Lease: types.NamespacedName{Namespace: "lb", Name: "haproxy-discovery"}, Identity: identity,
		LeaseDuration: 4 * time.Second, RenewDeadline: 2 * time.Second, RetryPeriod: 100 * time.Millisecond,
	}
}

func (s *apiServer) candidate(t *testing.T, identity string) *candidate {
	t.Helper()
	leadership, err := NewLeadership(s.cluster, s.election(identity), s.log.logger())
	if err != nil {
		t.Fatal(err)
	}
	c := &candidate{Leadership: leadership, led: make(chan struct{}, 100)}
	c.stop = running(t, func(ctx context.Context) error {
		return leadership.Run(ctx, func(event any) {
			if _, is := event.(core.BecameLeader); !is {
				t.Errorf("told %T", event)
			}
			c.led <- struct{}{}
		})
	})
	return c
}

func (c *candidate) awaitLead(t *testing.T, s *apiServer) {
	t.Helper()
	select {
	case <-c.led:
	case <-time.After(patience):
		t.Fatalf("has not become leader:\n%s", s.log)
	}
}

// One leads and gives the lease up at its end; then the other one does, at once.
func TestLeadershipPassesOn(t *testing.T) {
	t.Parallel()
	s := newAPIServer(t)
	a := s.candidate(t, "a")
	a.awaitLead(t, s)
	b := s.candidate(t, "b")
	await(t, "b to see a", s.log, func() bool { return b.Status().Holder == "a" })
	if a, b := a.Status(), b.Status(); !a.Leading || b.Leading || b.Lease != "lb/haproxy-discovery" {
		t.Errorf("a %+v, b %+v", a, b)
	}
	a.stop()
	b.awaitLead(t, s)
	if len(a.led) > 0 || !b.Status().Leading {
		t.Errorf("a led again or b does not: %+v", b.Status())
	}
}

// A lease that cannot be renewed is lost, which ends nothing: it is tried for again, and who gets it
// again is told so.
func TestLostLeaseIsTriedForAgain(t *testing.T) {
	t.Parallel()
	s := newAPIServer(t)
	a := s.candidate(t, "a")
	a.awaitLead(t, s)
	for _, verb := range []string{"get", "update"} {
		s.answer(verb, http.StatusForbidden)
	}
	await(t, "the loss", s.log, func() bool { return s.log.count("lease lost") == 1 })
	status := a.Status()
	if status.Leading || !strings.Contains(status.LastError, "Lease lb/haproxy-discovery at "+s.URL) {
		t.Errorf("status %+v", status)
	}
	if n := s.log.count("not at hand"); n != 1 {
		t.Errorf("logged %d times:\n%s", n, s.log)
	}
	for _, verb := range []string{"get", "update"} {
		s.answer(verb, 0)
	}
	a.awaitLead(t, s)
	await(t, "the end of the trouble", s.log, func() bool { return a.Status().LastError == "" })
	if n := s.log.count("at hand again"); n != 1 {
		t.Errorf("logged %d times:\n%s", n, s.log)
	}
}

// Whoever could not renew the lease is no leader any more once it has run out, even while client-go is
// still trying.
func TestNobodyLeadsPastTheEndOfTheLease(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	lock := newLeaseLock(nil, Election{Identity: "a"}, "", (&logged{}).logger())
	lock.now = func() time.Time { return now }
	lock.held(resourcelock.LeaderElectionRecord{HolderIdentity: "a", LeaseDurationSeconds: 15}, true)
	for after, leading := range map[time.Duration]bool{0: true, 14 * time.Second: true, 15 * time.Second: false} {
		now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(after)
		if status := lock.status(); status.Leading != leading {
			t.Errorf("after %v: %+v", after, status)
		}
	}
}

// A request that goes through shows that those that it makes needless do not matter any more: a
// leader renews without reading, and a lease that is there need not be created.
func TestLeaseTroubleEnds(t *testing.T) {
	t.Parallel()
	refused := errors.New("refused")
	for name, test := range map[string]struct {
		failed    []string
		succeeded string
		ends      bool
	}{
		"renewed after an outage":     {[]string{"update", "get"}, "update", true},
		"created after an outage":     {[]string{"get"}, "create", true},
		"created by another one":      {[]string{"create"}, "get", true},
		"read, but not to be written": {[]string{"update"}, "get", false},
	} {
		t.Run(name, func(t *testing.T) {
			log := &logged{}
			lock := newLeaseLock(nil, Election{Identity: "a"}, "", log.logger())
			for _, verb := range test.failed {
				lock.done(t.Context(), verb, refused)
			}
			lock.done(t.Context(), test.succeeded, nil)
			if status := lock.status(); (status.LastError == "") != test.ends {
				t.Errorf("status %+v", status)
			}
			if told := log.count("at hand again") == 1; told != test.ends {
				t.Error(log)
			}
		})
	}
}

// A lease that names this replica, but was written at another time, is no leadership; one that nobody
// renews runs out, however often it is read.
func TestOnlyAWrittenLeaseLeads(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	log := &logged{}
	lock := newLeaseLock(nil, Election{Identity: "a"}, "", log.logger())
	lock.now = func() time.Time { return now }
	ours := resourcelock.LeaderElectionRecord{HolderIdentity: "a", LeaseDurationSeconds: 15}
	lock.held(ours, false)
	if status := lock.status(); status.Leading || log.count("replica leads") > 0 {
		t.Errorf("read: %+v\n%s", status, log)
	}
	lock.held(ours, true)
	lock.held(ours, false)
	if status := lock.status(); !status.Leading || log.count("this replica leads") != 1 {
		t.Errorf("written: %+v\n%s", status, log)
	}
	dead := resourcelock.LeaderElectionRecord{HolderIdentity: "dead", LeaseDurationSeconds: 15}
	lock.held(dead, false)
	if status := lock.status(); status.Holder != "dead" || status.Leading {
		t.Errorf("lost: %+v", status)
	}
	now = now.Add(20 * time.Second)
	lock.held(dead, false)
	if status := lock.status(); status.Holder != "" {
		t.Errorf("run out: %+v", status)
	}
}

// A lease that another replica has taken and given back begins a new term, though client-go has
// never stopped renewing.
func TestStolenLeaseBeginsANewTerm(t *testing.T) {
	t.Parallel()
	lock := newLeaseLock(nil, Election{Identity: "a"}, "", (&logged{}).logger())
	for i, step := range []struct {
		holder         string
		written, leads bool
	}{
		{"a", true, true}, {"a", true, false}, {"a", false, false},
		{"thief", false, false}, {"a", false, false}, {"a", true, true},
	} {
		record := resourcelock.LeaderElectionRecord{HolderIdentity: step.holder, LeaseDurationSeconds: 15}
		if leads := lock.held(record, step.written); leads != step.leads {
			t.Errorf("step %d: a term begins: %v, want %v", i+1, leads, step.leads)
		}
	}
}

// A lease of a peer that is dead: one line says who holds it and until when, then it is taken over.
func TestLeaseOfADeadPeer(t *testing.T) {
	t.Parallel()
	s := newAPIServer(t)
	s.set(leasePath, map[string]any{
		"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
		"metadata": map[string]any{"namespace": "lb", "name": "haproxy-discovery"},
		"spec": map[string]any{
			"holderIdentity": "dead", "leaseDurationSeconds": 2, "renewTime": "2020-01-01T00:00:00.000000Z",
		},
	})
	begun := time.Now()
	a := s.candidate(t, "a")
	a.awaitLead(t, s)
	if took := time.Since(begun); took < 2*time.Second {
		t.Errorf("taken over after %v", took)
	}
	if s.log.count("another replica leads") != 1 || s.log.count("holder=dead until=20") != 1 {
		t.Error(s.log)
	}
}

// R31: the lease is given up within a second, or left to run out where the server does not answer.
func TestLeadershipEndsWithinASecond(t *testing.T) {
	t.Parallel()
	s := newAPIServer(t)
	election := s.election("a")
	election.LeaseDuration, election.RenewDeadline = 15*time.Second, 10*time.Second
	election.RetryPeriod = time.Second
	leadership, err := NewLeadership(s.cluster, election, s.log.logger())
	if err != nil {
		t.Fatal(err)
	}
	stop := running(t, func(ctx context.Context) error { return leadership.Run(ctx, func(any) {}) })
	await(t, "the lead", s.log, func() bool { return leadership.Status().Leading })
	s.hanging(true)
	if took := stop(); took > time.Second || s.log.count("not given up") != 1 {
		t.Errorf("took %v:\n%s", took, s.log)
	}
}

func TestElectionIsChecked(t *testing.T) {
	t.Parallel()
	s := newAPIServer(t)
	good := s.election("a")
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	for want, spoil := range map[string]func(*Election){
		"retry period 0s":    func(e *Election) { e.RetryPeriod = 0 },
		"renew deadline":     func(e *Election) { e.RetryPeriod = e.RenewDeadline },
		"lease duration 4s":  func(e *Election) { e.RenewDeadline = 4 * time.Second },
		"identity is empty":  func(e *Election) { e.Identity = "" },
		"number of seconds":  func(e *Election) { e.LeaseDuration += time.Millisecond },
		"retry period -1ns":  func(e *Election) { e.RetryPeriod = -1 },
		"lease duration -1s": func(e *Election) { e.LeaseDuration = -time.Second },
		"than a Lease can":   func(e *Election) { e.LeaseDuration = 1193050 * time.Hour },
	} {
		election := good
		spoil(&election)
		if _, err := NewLeadership(s.cluster, election, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", election, err, want)
		}
	}
	leadership, err := NewLeadership(s.cluster, good, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := leadership.Check(t.Context()); err != nil {
		t.Errorf("a lease that does not exist yet: %v", err)
	}
	s.answer("get", http.StatusForbidden)
	if err := leadership.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "get Lease lb/haproxy-discovery") {
		t.Errorf("forbidden: %v", err)
	}
	one, _ := DefaultIdentity()
	other, _ := DefaultIdentity()
	if one == other || !strings.Contains(one, "_") {
		t.Error(fmt.Sprint(one, other))
	}
}
