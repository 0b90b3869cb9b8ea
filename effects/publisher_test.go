package effects

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

func TestSubscriberIsDroppedBeyondTenThousandTerminations(t *testing.T) {
	p := NewPublisher()
	stuck, other := p.Subscribe("stuck"), p.Subscribe("other")
	for range 10_000 {
		publish(p, terminated("a1"))
		receive(t, other)
	}
	if stuck.Lag() != 10_000 || len(p.Subscriptions()) != 2 {
		t.Fatalf("dropped too early, with %d waiting", stuck.Lag())
	}
	publish(p, terminated("a1"))
	for range 2 {
		_, err := stuck.Next(t.Context())
		if !errors.Is(err, ErrLagging) || !strings.Contains(err.Error(), `"stuck"`) {
			t.Errorf("Next: %v", err)
		}
	}
	if stuck.Lag() != 0 {
		t.Errorf("%d events are kept for nobody", stuck.Lag())
	}
	expect(t, other, "T(a1)")
	if left := p.Subscriptions(); len(left) != 1 || left[0] != other {
		t.Errorf("%d subscriptions left", len(left))
	}
	publish(p, terminated("a1"))
	p.Close()
	stuck.Close()
	if _, err := stuck.Next(t.Context()); !errors.Is(err, ErrLagging) {
		t.Errorf("Next after Close: %v", err)
	}
}

// Terminations that were read do not count.
func TestSubscriberThatReadsInTimeIsNeverDropped(t *testing.T) {
	p := NewPublisher()
	s := p.Subscribe("slow")
	for range 3 {
		for range 10_000 {
			publish(p, terminated("a1"))
		}
		if got := drain(t, s); len(got) != 10_000 {
			t.Fatalf("received %d", len(got))
		}
	}
}

// 20 subscribers never read; one waits for every event, and has it before the next is published.
func TestStuckSubscribersCostTheOthersNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPublisher()
		for i := range 20 {
			p.Subscribe(fmt.Sprintf("stuck %d", i))
		}
		var got []string
		s := p.Subscribe("test")
		go func() {
			for {
				delivery, err := s.Next(context.Background())
				if err != nil {
					return
				}
				got = append(got, brief(delivery.Event))
			}
		}()
		var last core.HAProxyPodsDiscovered
		var want []string
		for i := range 300 {
			last = discovered(last, "a1")
			for _, event := range []core.Event{rejected("b", i), terminated("c1"), last} {
				publish(p, event)
				synctest.Wait()
				want = append(want, brief(event))
			}
		}
		p.Close()
		synctest.Wait()
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("received %d events of %d, or in another order", len(got), len(want))
		}
	})
}

func TestSubscribersReadWhatWaitsAfterThePublisherHasClosed(t *testing.T) {
	p := NewPublisher()
	s := p.Subscribe("test")
	publish(p, terminated("a1"), rejected("b", 1))
	p.Close()
	p.Close()
	if left := len(p.Subscriptions()); left != 0 {
		t.Errorf("%d subscriptions left after Close", left)
	}
	publish(p, terminated("b1"))
	expect(t, s, "T(a1)", "R(b#1)")
	for range 2 {
		if _, err := s.Next(t.Context()); !errors.Is(err, ErrClosed) {
			t.Errorf("Next: %v", err)
		}
	}
	if _, err := p.Subscribe("after").Next(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("Next of a subscription made after Close: %v", err)
	}
}

func TestClosedSubscriptionForgetsWhatWaits(t *testing.T) {
	p := NewPublisher()
	s := p.Subscribe("test")
	publish(p, terminated("a1"))
	s.Close()
	s.Close()
	if left := len(p.Subscriptions()); left != 0 {
		t.Errorf("%d subscriptions left", left)
	}
	publish(p, terminated("b1"))
	if _, err := s.Next(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("Next: %v", err)
	}
	if s.Lag() != 0 {
		t.Errorf("%d events wait for nobody", s.Lag())
	}
}

func TestWaitingNextReturnsWhenSomethingEndsIt(t *testing.T) {
	for _, test := range []struct {
		name string
		end  func(*Publisher, *Subscription, context.CancelFunc)
		want error
	}{
		{"subscription closed", func(_ *Publisher, s *Subscription, _ context.CancelFunc) { s.Close() },
			ErrClosed},
		{"publisher closed", func(p *Publisher, _ *Subscription, _ context.CancelFunc) { p.Close() },
			ErrClosed},
		{"context cancelled", func(_ *Publisher, _ *Subscription, cancel context.CancelFunc) { cancel() },
			context.Canceled},
		{"event published", func(p *Publisher, _ *Subscription, _ context.CancelFunc) {
			publish(p, terminated("a1"))
		}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := NewPublisher()
				s := p.Subscribe("test")
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				ended := make(chan error, 1)
				go func() {
					_, err := s.Next(ctx)
					ended <- err
				}()
				synctest.Wait() // until Next waits
				select {
				case err := <-ended:
					t.Fatalf("Next did not wait: %v", err)
				default:
				}
				test.end(p, s, cancel)
				if err := <-ended; !errors.Is(err, test.want) {
					t.Errorf("Next: %v", err)
				}
			})
		})
	}
}

func TestNextLeavesTheEventWhenItsContextHasEnded(t *testing.T) {
	p := NewPublisher()
	s := p.Subscribe("test")
	publish(p, terminated("a1"))
	ctx, cancel := context.WithTimeout(t.Context(), -time.Second)
	defer cancel()
	if _, err := s.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Next: %v", err)
	}
	expect(t, s, "T(a1)")
}

// For the race detector: everything at once.
func TestPublisherIsSafeForConcurrentUse(t *testing.T) {
	const events = 2_000
	p := NewPublisher()
	var all sync.WaitGroup
	for i := range 4 {
		s := p.Subscribe(fmt.Sprint(i))
		all.Go(func() {
			if got := countTerminations(t, s); got != events {
				t.Errorf("subscriber %d received %d terminations", i, got)
			}
		})
	}
	done := make(chan struct{})
	all.Go(func() { // one that comes and goes
		for {
			select {
			case <-done:
				return
			default:
			}
			s := p.Subscribe("short")
			for _, listed := range p.Subscriptions() {
				_, _ = listed.Lag(), listed.Name()
			}
			all.Go(s.Close)
			_ = countTerminations(t, s)
		}
	})
	var last core.HAProxyPodsDiscovered
	for i := range events {
		last = discovered(last, fmt.Sprintf("a%d", i))
		publish(p, terminated("a1"), last, rejected("b", i))
	}
	close(done)
	p.Close()
	all.Wait()
}

// countTerminations reads to the end.
func countTerminations(t *testing.T, s *Subscription) int {
	count := 0
	for {
		delivery, err := s.Next(t.Context())
		if err != nil {
			if !errors.Is(err, ErrClosed) {
				t.Errorf("Next: %v", err)
			}
			return count
		}
		if _, is := delivery.Event.(core.HAProxyPodTerminated); is {
			count++
		}
	}
}

// With a subscriber that is stuck; the fleet's size must not matter.
func BenchmarkPublish(b *testing.B) {
	for _, size := range []int{100, 10_000} {
		b.Run(fmt.Sprintf("fleet=%d", size), func(b *testing.B) {
			endpoints := make([]core.Endpoint, size)
			for i := range endpoints {
				endpoints[i].Identity = core.Identity{Namespace: "lb", Name: fmt.Sprint(i), UID: "u"}
			}
			event := following(core.HAProxyPodsDiscovered{},
				core.NewFleet(core.Credentials{}, endpoints...))
			p := NewPublisher()
			p.Subscribe("stuck")
			b.ReportAllocs()
			for b.Loop() {
				event.Generation++
				publish(p, event, rejected("a", 1))
			}
		})
	}
}
