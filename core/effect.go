package core

import "time"

// Effect is something that the shell has to do, in the order given: cancellations and stopped
// timers, Rejected, Terminated, at most one Discovered, then timers and probes started (R14).
// Plain data; the set is closed.
type Effect interface{ isEffect() }

// ProbeID numbers the probes of one state history, from 1.
type ProbeID uint64

// TimerID numbers the timers of one state history, from 1. A timer fires once.
type TimerID uint64

// StartProbe asks the agent at Identity.URL. Exactly one ProbeFinished must follow, even after
// CancelProbe. Timeout is the overall limit and starts when the probe does.
type StartProbe struct {
	Probe       ProbeID
	Identity    Identity
	Credentials Credentials
	Timeout     time.Duration
}

// CancelProbe ends a probe early. Its ProbeFinished still follows and frees its place.
type CancelProbe struct{ Probe ProbeID }

// StartTimer arms a timer: TimerFired follows after the time given, unless it is stopped first.
type StartTimer struct {
	Timer TimerID
	After time.Duration
}

// StopTimer disarms a timer. A TimerFired that is already under way does no harm.
type StopTimer struct{ Timer TimerID }

// Publish hands an event to the subscribers.
type Publish struct{ Event Event }

// Refuse tells that an input, or a part of it, makes no sense and was dropped: to be logged and
// counted.
type Refuse struct{ Reason string }

func (StartProbe) isEffect()  {}
func (CancelProbe) isEffect() {}
func (StartTimer) isEffect()  {}
func (StopTimer) isEffect()   {}
func (Publish) isEffect()     {}
func (Refuse) isEffect()      {}
