package invariant

import "github.com/haproxy-discovery/haproxy-discovery/core"

// I5, bounded probes.

// checkProbes: the outstanding ones are those of the books, within the bounds, and no place is free
// for which somebody waits.
func (t *transition) checkProbes() {
	retries := 0
	for i := range t.probes {
		p := &t.probes[i]
		if p.Retry {
			retries++
		}
		if !p.Cancelled && (p.asks == nil || p.asks.over) {
			t.violate("I4", "probe %d is in flight for no candidate: %s",
				p.Probe, naming(p.Identity))
		}
	}
	t.checkOutstanding()
	if outstanding := len(t.probes); outstanding > t.known.config.MaxProbes {
		t.violate("I5", "%d probes outstanding, at most %d may be", outstanding, t.known.config.MaxProbes)
	}
	if retries > t.known.config.MaxRetries {
		t.violate("I5", "%d retries outstanding, at most %d may be", retries, t.known.config.MaxRetries)
	}
	t.checkNoPlaceFree(retries)
}

// checkOutstanding: the state counts the same probes as the books.
func (t *transition) checkOutstanding() {
	if said := t.after.OutstandingLen(); said != len(t.probes) {
		t.violate("I5", "the state counts %d probes instead of %d", said, len(t.probes))
		return
	}
	next := 0
	for said := range t.after.Outstanding() {
		if p := &t.probes[next]; said != p.OutstandingProbe {
			t.violateOutstanding(p.OutstandingProbe, said)
		}
		next++
	}
}

func (t *transition) violateOutstanding(is, said core.OutstandingProbe) {
	t.violate("I5", "probe %d (%s, retry %t, cancelled %t) is outstanding, the state says: "+
		"probe %d (%s, retry %t, cancelled %t)", is.Probe, is.Identity.Key(), is.Retry, is.Cancelled,
		said.Probe, said.Identity.Key(), said.Retry, said.Cancelled)
}
