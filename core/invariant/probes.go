package invariant

import (
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// finishProbe frees a probe's place and notes what it says about its candidate: nothing if it was
// cancelled, and nothing if it failed under credentials that are old by now (R24).
func (t *transition) finishProbe(in core.ProbeFinished) {
	p, found := t.probes[in.Probe]
	if !found {
		return
	}
	delete(t.probes, in.Probe)
	t.finished = &p
	key := p.identity.Key()
	lived := t.lives[key]
	if p.cancelled || lived.identity != p.identity {
		return
	}
	answer, isAnswer := in.Outcome.(core.Answer)
	switch version := answer.HAProxy(); {
	case isAnswer:
		if version.Known() && version != lived.version {
			lived.version = version
			t.updated = t.isPublished(p.identity)
		}
		lived.answered = true
	case p.credentials != t.known.credentials:
		return
	default:
		t.failed = true
	}
	lived.judged = true
	lived.attempts, lived.resets = t.attemptsOf(lived)+1, t.backoffResets
	t.lives[key] = lived
}

func (m *Monitor) attemptsOf(lived life) int {
	if lived.resets != m.backoffResets {
		return 0
	}
	return lived.attempts
}

func (m *Monitor) isPublished(identity core.Identity) bool {
	if m.published == nil {
		return false
	}
	endpoint, found := m.published.fleet.Get(identity.Key())
	return found && endpoint.Identity == identity
}

func (t *transition) cancelProbe(e core.CancelProbe) {
	p, found := t.probes[e.Probe]
	if !found || p.cancelled {
		t.violate("I4", "probe %d is cancelled, but not in flight", e.Probe)
		return
	}
	p.cancelled = true
	t.probes[e.Probe] = p
}

// startProbe examines a probe that starts: whom it asks, and that it is needed (I4).
func (t *transition) startProbe(e core.StartProbe) {
	lived := t.lives[e.Identity.Key()]
	switch {
	case lived.identity != e.Identity:
		t.violate("I4", "probe %d asks no candidate: %s", e.Probe, naming(e.Identity))
	case lived.answered && lived.version.Known():
		t.violate("I4", "probe %d asks whose version is known: %s", e.Probe, naming(e.Identity))
	}
	for id, other := range t.probes {
		if !other.cancelled && other.identity == e.Identity {
			t.violate("I4", "probe %d asks while %d is in flight: %s",
				e.Probe, id, naming(e.Identity))
		}
	}
	if e.Credentials != t.known.credentials {
		t.violate("I3", "probe %d has old credentials", e.Probe)
	}
	config := t.config
	limit := doubled(config.ProbeTimeout, t.attemptsOf(lived), config.MaxProbeTimeout)
	if e.Timeout != limit {
		t.violate("R22", "probe %d has %v instead of %v", e.Probe, e.Timeout, limit)
	}
	if queued, _ := t.after.QueueLen(); lived.judged && queued > 0 {
		t.violate("R21", "probe %d is a retry, but %d first attempts wait", e.Probe, queued)
	}
	if e.Probe <= t.lastProbe {
		t.violate("I5", "probe number %d is not new", e.Probe)
	}
	t.lastProbe = max(t.lastProbe, e.Probe)
	t.probes[e.Probe] = probe{identity: e.Identity, credentials: e.Credentials, retry: lived.judged}
}

// checkProbes: the outstanding ones are those of the books, within the bounds, and no place is free
// for which somebody waits (I5, R21).
func (t *transition) checkProbes() {
	retries := 0
	for id, p := range t.probes {
		if p.retry {
			retries++
		}
		if !p.cancelled && t.lives[p.identity.Key()].identity != p.identity {
			t.violate("I4", "probe %d is in flight for no candidate: %s", id, naming(p.identity))
		}
		said, found := t.after.Probe(id)
		want := core.OutstandingProbe{
			Probe: id, Identity: p.identity, Credentials: p.credentials,
			Retry: p.retry, Cancelled: p.cancelled,
		}
		if !found || said != want {
			t.violate("I5", "probe %d (%s, retry %t, cancelled %t) is outstanding, "+
				"the state says: %t, retry %t, cancelled %t", id, p.identity.Key(),
				p.retry, p.cancelled, found, said.Retry, said.Cancelled)
		}
	}
	if said := len(t.after.Probes()); said != len(t.probes) {
		t.violate("I5", "the state counts %d probes instead of %d", said, len(t.probes))
	}
	t.checkPlaces(retries)
}

func (t *transition) checkPlaces(retries int) {
	config, outstanding := t.config, len(t.probes)
	if outstanding > config.MaxProbes {
		t.violate("I5", "%d probes outstanding, at most %d may be", outstanding, config.MaxProbes)
	}
	if retries > config.MaxRetries {
		t.violate("I5", "%d retries outstanding, at most %d may be", retries, config.MaxRetries)
	}
	firstsQueued, retriesQueued := t.after.QueueLen()
	retryFits := retriesQueued > 0 && retries < config.MaxRetries
	if outstanding < config.MaxProbes && (firstsQueued > 0 || retryFits) {
		t.violate("R21", "%d of %d places taken, but %d first attempts and %d retries wait",
			outstanding, config.MaxProbes, firstsQueued, retriesQueued)
	}
}

// doubled is base doubled that many times, at most limit.
func doubled(base time.Duration, times int, limit time.Duration) time.Duration {
	for ; times > 0 && base < limit; times-- {
		base *= 2
	}
	return min(base, limit)
}
