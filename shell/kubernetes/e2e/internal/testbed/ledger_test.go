package testbed

import "testing"

// Each story breaks a rule with its last event, and none before.
func TestLedgerNoticesWhatBreaksTheRules(t *testing.T) {
	a := Authority{Name: "haproxy-0", UID: "a"}
	b := Authority{Name: "haproxy-0", UID: "b"}
	fleet := func(generation uint64, replay bool, members ...Authority) Event {
		event := Event{Kind: Discovered, Generation: generation, Replay: replay}
		for _, member := range members {
			event.Endpoints = append(event.Endpoints, Endpoint{Authority: member})
		}
		return event
	}
	terminated := func(authority Authority) Event {
		return Event{Kind: Terminated, Authority: authority}
	}
	for name, story := range map[string][]Event{
		"gone without a word": {fleet(1, false, a), fleet(1, true, a), fleet(2, false, b)},
		"terminated twice":    {fleet(1, false, a), terminated(a), fleet(2, false), terminated(a)},
		"stale":               {fleet(1, false, a), terminated(a), fleet(2, false, a)},
		"a generation again":  {fleet(1, false, a), fleet(1, false, a)},
		"a generation back":   {fleet(2, false, a), fleet(1, true, a)},
	} {
		t.Run(name, func(t *testing.T) {
			ledger := newLedger()
			var broken int
			for i, event := range story {
				if err := ledger.enter(event); err != nil {
					t.Log(err)
					broken = i
					break
				}
			}
			if last := len(story) - 1; broken != last {
				t.Errorf("broken by event %d, want %d", broken, last)
			}
		})
	}
}
