package invariant

import (
	"iter"
	"slices"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// R21, first attempts first, each queue in its order.

func (t *transition) checkFirstsFirst(s *subject, e core.StartProbe) {
	if queued, _ := t.after.QueueLen(); s.judged() && queued > 0 {
		t.violate("R21", "probe %d is a retry, but %d first attempts wait", e.Probe, queued)
	}
}

// checkNoPlaceFree: no place is free for which somebody waits.
func (t *transition) checkNoPlaceFree(retries int) {
	firsts, waiting := t.after.QueueLen()
	retryFits := waiting > 0 && retries < t.known.config.MaxRetries
	outstanding, places := len(t.probes), t.known.config.MaxProbes
	if outstanding < places && (firsts > 0 || retryFits) {
		t.violate("R21", "%d of %d places taken, but %d first attempts and %d retries wait",
			outstanding, places, firsts, waiting)
	}
}

func (t *transition) checkRetry(s *subject) {
	if s.is.Retry != s.life.judged {
		t.violate("R21", "the next probe of %s is a retry: %t instead of %t",
			s.key, s.is.Retry, s.life.judged)
	}
}

// checkTurns: who was queued before has started, or is queued still, in the same order and before
// everybody who came later.
func (t *transition) checkTurns() {
	firsts, retries := t.before.QueueLen()
	if firsts > 0 {
		t.checkQueue("first attempts", false, t.before.FirstAttempts(), t.after.FirstAttempts())
	}
	if retries > 0 {
		t.checkQueue("retries", true, t.before.Retries(), t.after.Retries())
	}
}

func (t *transition) checkQueue(name string, retry bool, before, after iter.Seq[core.PodKey]) {
	var waited, served []core.PodKey
	for key := range before {
		if s := t.subject(key); s.life != nil && !s.begun && s.life.judged == retry {
			waited = append(waited, key)
		}
	}
	for _, effect := range t.effects {
		start, _ := effect.(core.StartProbe)
		if i, started := t.probe(start.Probe); started && t.probes[i].Retry == retry {
			served = append(served, start.Identity.Key())
		}
	}
	served = slices.AppendSeq(served, after)
	if len(served) < len(waited) || !slices.Equal(served[:len(waited)], waited) {
		t.violate("R21", "%s are served in the order %v instead of %v", name, served, waited)
	}
}
