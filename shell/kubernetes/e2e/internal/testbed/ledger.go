package testbed

import "fmt"

// ledger keeps account of what a deployer may rely on in any run: an authority that leaves the
// fleet was terminated before, exactly once, and is never published again, unless the test says
// that it comes back.
type ledger struct {
	published  map[Authority]bool // by the last publication
	terminated map[Authority]bool
	generation uint64
}

func newLedger() *ledger {
	return &ledger{published: map[Authority]bool{}, terminated: map[Authority]bool{}}
}

// enter gives what the event breaks.
func (l *ledger) enter(event Event) error {
	switch event.Kind {
	case Terminated:
		if l.terminated[event.Authority] {
			return fmt.Errorf("terminated twice: %+v", event.Authority)
		}
		l.terminated[event.Authority] = true
	case Discovered:
		return l.enterFleet(event)
	}
	return nil
}

// returns lets a pod back in under the same authority.
func (l *ledger) returns(uid string) {
	for authority := range l.terminated {
		if authority.UID == uid {
			delete(l.terminated, authority)
		}
	}
}

func (l *ledger) enterFleet(event Event) error {
	before := l.published
	l.published = make(map[Authority]bool, len(event.Endpoints))
	for _, endpoint := range event.Endpoints {
		if l.terminated[endpoint.Authority] {
			return fmt.Errorf("generation %d: stale, terminated before: %+v",
				event.Generation, endpoint.Authority)
		}
		l.published[endpoint.Authority] = true
	}
	for authority := range before {
		if !l.published[authority] && !l.terminated[authority] {
			return fmt.Errorf("generation %d: gone without being terminated: %+v",
				event.Generation, authority)
		}
	}
	if event.Generation < l.generation || event.Generation == l.generation && !event.Replay {
		return fmt.Errorf("generation %d after %d", event.Generation, l.generation)
	}
	l.generation = event.Generation
	return nil
}
