package core

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Reduce takes one input in: the whole of discovery. It is a pure and total function; the state
// given stays as it was.
func Reduce(state State, input Input) (State, []Effect) {
	s := &step{State: state}
	switch in := input.(type) {
	case ConfigValidated:
		s.configValidated(in)
	case CredentialsUpdated:
		s.credentialsUpdated(in)
	case PodStoreSet:
		s.podStoreSet(in)
	case ResourceIndexUpdated:
		s.resourceIndexUpdated(in)
	case ResourceSyncComplete:
		s.resourceSyncComplete(in)
	case BecameLeader:
		s.becameLeader()
	case DriftPreventionTriggered:
		s.driftPreventionTriggered(in)
	case ProbeFinished:
		s.probeFinished(in)
	case TimerFired:
		s.timerFired(in)
	default:
		s.refuse("%T is no input", input)
	}
	s.publishIfDue()
	s.launchProbes()
	return s.State, s.effects()
}

// step is one run of Reduce: the state that is being built and what the step has to tell. The
// lists are filled in the order of the pods' keys wherever a step touches several pods.
type step struct {
	State

	trigger  Trigger
	fullPass bool
	// due tells that a publication timer has fired.
	due bool

	refused    []Effect
	cancelled  []Effect
	stopped    []Effect
	rejected   []Effect
	terminated []Effect
	discovered []Effect
	timers     []Effect
	probed     []Effect

	updated []PodKey
	removed []PodKey
}

func (s *step) refuse(format string, args ...any) {
	s.refused = append(s.refused, Refuse{Reason: fmt.Sprintf(format, args...)})
}

// effects lists them in the order that the shell must keep (R14).
func (s *step) effects() []Effect {
	return slices.Concat(s.refused, s.cancelled, s.stopped, s.rejected, s.terminated, s.discovered,
		s.timers, s.probed)
}

// startTimer arms a new timer and stores its number.
func (s *step) startTimer(timer *TimerID, after time.Duration) {
	s.lastTimer++
	*timer = s.lastTimer
	s.timers = append(s.timers, StartTimer{Timer: *timer, After: after})
}

// keepTimer has a timer armed exactly while it is wanted.
func (s *step) keepTimer(timer *TimerID, wanted bool, after time.Duration) {
	switch {
	case wanted && *timer == 0:
		s.startTimer(timer, after)
	case !wanted:
		s.stopTimer(timer)
	}
}

func (s *step) stopTimer(timer *TimerID) {
	if *timer != 0 {
		s.stopped = append(s.stopped, StopTimer{Timer: *timer})
		*timer = 0
	}
}

// ours tells whether an input is about the pods that discovery follows.
func (s *step) ours(resource string) bool {
	if resource == HAProxyPods {
		return true
	}
	s.refuse("resource %.64q is not %s", strings.ToValidUTF8(resource, "?"), HAProxyPods)
	return false
}
