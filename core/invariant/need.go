package invariant

import (
	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// I4, only who needs it is probed.

func (t *transition) cancelProbe(e core.CancelProbe) {
	index, found := t.probe(e.Probe)
	if !found || t.probes[index].Cancelled {
		t.violate("I4", "probe %d is cancelled, but not in flight", e.Probe)
		return
	}
	t.probes[index].Cancelled, t.probes[index].asks = true, nil
}

func (t *transition) startProbe(e core.StartProbe) {
	s := t.subject(e.Identity.Key())
	t.checkNeeded(s, e)
	t.checkNewestProbed(e)
	t.checkTimeLimit(s, e)
	t.checkFirstsFirst(s, e)
	if e.Probe <= t.lastProbe {
		t.violate("I5", "probe number %d is not new", e.Probe)
	}
	t.lastProbe = max(t.lastProbe, e.Probe)
	t.probes = append(t.probes, probe{asks: s.life, OutstandingProbe: core.OutstandingProbe{
		Probe: e.Probe, Identity: e.Identity, Credentials: e.Credentials, Retry: s.judged(),
	}})
}

// judged tells whether a probe had a verdict since the pod became a candidate.
func (s *subject) judged() bool { return s.life != nil && s.life.judged }

// checkNeeded: a probe that starts asks a candidate that is not asked already and whose version is
// not known.
func (t *transition) checkNeeded(s *subject, e core.StartProbe) {
	switch {
	case s.life == nil || s.life.identity != e.Identity:
		t.violate("I4", "probe %d asks no candidate: %s", e.Probe, naming(e.Identity))
	case s.life.final():
		t.violate("I4", "probe %d asks whose version is known: %s", e.Probe, naming(e.Identity))
	}
	for i := range t.probes {
		if other := &t.probes[i]; !other.Cancelled && other.Identity == e.Identity {
			t.violate("I4", "probe %d asks while %d is in flight: %s",
				e.Probe, other.Probe, naming(e.Identity))
		}
	}
}

// checkWaits: who needs an answer waits for it in one way (I8), and nobody else does.
func (t *transition) checkWaits(s *subject) {
	waits := waitsOf(s.is)
	switch {
	case s.life == nil && (waits > 0 || s.is.Admitted):
		t.violate("I4", "%s is no candidate, but admitted, queued, in flight or armed", s.key)
	case s.life == nil:
	case s.life.final() && waits > 0:
		t.violate("I4", "%s is admitted for good, but queued, in flight or armed", s.key)
	case waits > 1:
		t.violate("I4", "%s is more than one of queued, in flight and armed", s.key)
	case !s.life.final() && waits == 0:
		t.violate("I8", "%s is forgotten: not queued, in flight or armed", s.key)
	}
}

// waitsOf counts the ways in which a pod waits for its agent's answer.
func waitsOf(standing core.Standing) int {
	waits := 0
	if standing.Queued {
		waits++
	}
	if standing.Probe != 0 {
		waits++
	}
	if standing.RetryTimer != 0 {
		waits++
	}
	return waits
}
