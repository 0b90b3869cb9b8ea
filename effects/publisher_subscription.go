package effects

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// ErrClosed is returned by Next when nothing more will come: the subscription was closed, or the
// publisher was and everything has been read.
var ErrClosed = errors.New("subscription closed")

// ErrLagging is wrapped by the error of Next once the subscriber has left more than 10,000
// terminations unread and was dropped. What waited for it is gone. It must regard all endpoints it
// knows as terminated, and may subscribe again.
var ErrLagging = errors.New("dropped: more than 10,000 terminations unread")

// Subscription is one subscriber's end of a Publisher. Next is for one goroutine at a time; the
// other methods are safe for concurrent use, and none of them waits.
//
// A subscriber that reads slowly misses no termination. Of the rejections of one pod, and of the
// publications, it may receive only the newest. The lists and flags of a publication always refer
// to what this subscriber has received before:
//
//   - Added, Updated and Removed tell the difference, so that whoever applies terminations and
//     lists in order has the fleet. An endpoint that was terminated and is back under the same
//     identity is in Removed and in Added. To the first publication received, all is Added.
//   - CredentialsChanged is set if one of the skipped publications told so, or this one, even when
//     the credentials are the old ones again.
//   - Replay is set only if this subscriber has received that very generation before.
//
// Rejections of more than 10,000 different pods unread push the oldest out, see
// DiscardedRejections.
type Subscription struct {
	publisher *Publisher
	name      string
	// wake has room for one signal: something was put in, or the end has come.
	wake chan struct{}
	// reception belongs to the goroutine that calls Next.
	reception reception

	mu     sync.Mutex
	outbox outbox
	// ended is why nothing more is taken in; nil while the subscription lasts.
	ended error
}

// Name is what was given to Subscribe.
func (s *Subscription) Name() string { return s.name }

// Lag is the number of events that wait to be read.
func (s *Subscription) Lag() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.outbox.len()
}

// DiscardedRejections counts the rejections that this subscriber will never see because those of
// more than 10,000 other pods waited.
func (s *Subscription) DiscardedRejections() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.outbox.rejected.discarded
}

// Next waits for the next event. It returns the error of a context that has ended, and leaves the
// event for the next call then; ErrClosed after the last event; or an error that wraps ErrLagging,
// at once when that happens, whatever waits.
func (s *Subscription) Next(ctx context.Context) (Delivery, error) {
	for {
		if err := ctx.Err(); err != nil {
			return Delivery{}, err
		}
		next, err := s.take()
		if err != nil {
			s.publisher.forget(s) // it knows now, if it was dropped
			return Delivery{}, err
		}
		if next != nil {
			return s.reception.receive(next), nil
		}
		select {
		case <-s.wake:
		case <-ctx.Done():
		}
	}
}

// Close ends the subscription and throws away what waits. A Next that waits returns ErrClosed.
func (s *Subscription) Close() {
	s.publisher.forget(s)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.abandon(ErrClosed)
}

// take removes the oldest event; nil without an error means that there is none yet.
func (s *Subscription) take() (*parcel, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if next := s.outbox.take(); next != nil {
		return next, nil
	}
	return nil, s.ended
}

// put is false when this event has ended the subscription. The publisher has forgotten one that
// ended before.
func (s *Subscription) put(at time.Time, event core.Event) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.outbox.put(at, event) {
		s.abandon(fmt.Errorf("subscriber %q: %w", s.name, ErrLagging))
		return false
	}
	s.signal()
	return true
}

// end lets the subscriber read what waits.
func (s *Subscription) end(reason error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended == nil {
		s.ended = reason
	}
	s.signal()
}

// abandon throws away what waits. The caller holds the lock.
func (s *Subscription) abandon(reason error) {
	if s.ended == nil {
		s.ended = reason
	}
	discarded := s.outbox.rejected.discarded
	s.outbox = outbox{}
	s.outbox.rejected.discarded = discarded
	s.signal()
}

func (s *Subscription) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}
