package oracle

import (
	"slices"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// probe is one that was started and has not finished.
type probe struct {
	id          core.ProbeID
	identity    core.Identity
	credentials core.Credentials
	retry       bool
	cancelled   bool
}

func (o *Oracle) findProbe(id core.ProbeID) int {
	return slices.IndexFunc(o.outstanding, func(p probe) bool { return p.id == id })
}

func (o *Oracle) cancel(id core.ProbeID) {
	if at := o.findProbe(id); at >= 0 {
		o.outstanding[at].cancelled = true
	}
	o.expected.cancels = append(o.expected.cancels, id)
}

// probeFinished frees the place. The result counts unless the probe was cancelled; a failure under
// credentials that were replaced meanwhile is no verdict (R24).
func (o *Oracle) probeFinished(in core.ProbeFinished) {
	at := o.findProbe(in.Probe)
	if at < 0 {
		o.expected.refusals++
		return
	}
	finished := o.outstanding[at]
	o.outstanding = slices.Delete(o.outstanding, at, at+1)
	if finished.cancelled {
		return
	}
	c := o.candidacyOf(finished.identity)
	c.probe = 0
	answer, answered := in.Outcome.(core.Answer)
	if !answered && finished.credentials != o.facts.credentials {
		c.queue(o.step)
		return
	}
	c.told = append(c.told, verdictOfAgent{o.step, answered, versionOf(answer)})
	if !c.admitted() {
		failure, isFailure := in.Outcome.(core.Failure)
		o.reportFailure(c, failure)
		o.expected.anyDetail = !isFailure
	}
	if c.version().Text == "" {
		o.expected.retryTimer = c
	}
}

func (o *Oracle) timerFired(in core.TimerFired) {
	switch in.Timer {
	case 0:
		o.expected.refusals++
		return
	case o.publishTimer:
		o.publishTimer = 0
		o.expected.due = true
		return
	case o.firstPublishTimer:
		o.firstPublishTimer = 0
		o.expected.due = true
		return
	}
	for _, is := range o.now {
		if is.candidacy != nil && is.candidacy.timer == in.Timer {
			is.candidacy.timer = 0
			is.candidacy.queue(o.step)
			return
		}
	}
	if in.Timer > o.lastTimer {
		o.expected.refusals++
	}
}

// retryAll has each candidate that has yet to be admitted probed again without further delay (R7).
func (o *Oracle) retryAll(freshBackoff bool) {
	if freshBackoff {
		o.lastReset = o.step
	}
	for _, is := range o.now {
		if c := is.candidacy; c != nil && c.timer != 0 && !c.admitted() {
			o.expected.stops = append(o.expected.stops, c.timer)
			c.timer = 0
			c.queue(o.step)
		}
	}
}

// launch fills the places: first attempts before retries, who waits longer first, and of those who
// came in the same step in the order of their keys; retries hold some of the places only (R21).
func (o *Oracle) launch() {
	firsts, retries := o.waiting()
	held := 0
	for _, p := range o.outstanding {
		if p.retry {
			held++
		}
	}
	for _, c := range firsts {
		o.start(c)
	}
	for _, c := range retries {
		if held < o.config.MaxRetries && o.start(c) {
			held++
		}
	}
}

// start probes a candidate if there is a place.
func (o *Oracle) start(c *candidacy) bool {
	if len(o.outstanding) == o.config.MaxProbes {
		return false
	}
	c.queued = false
	o.expected.probed = append(o.expected.probed, c)
	o.outstanding = append(o.outstanding, probe{
		identity: c.identity, credentials: o.facts.credentials, retry: !c.firstAttempt(),
	})
	return true
}

// waiting lists who is queued, in the order of their turns.
func (o *Oracle) waiting() (firsts, retries []*candidacy) {
	firsts, retries = o.expected.firsts[:0], o.expected.retries[:0]
	for _, is := range o.now {
		switch c := is.candidacy; {
		case c == nil || !c.queued:
		case c.firstAttempt():
			firsts = append(firsts, c)
		default:
			retries = append(retries, c)
		}
	}
	bySince := func(a, b *candidacy) int { return a.since - b.since }
	slices.SortStableFunc(firsts, bySince)
	slices.SortStableFunc(retries, bySince)
	o.expected.firsts, o.expected.retries = firsts, retries
	return firsts, retries
}

// firstAttemptPending tells whether an agent has yet to be heard for the first time (R17).
func (o *Oracle) firstAttemptPending() bool {
	for _, is := range o.now {
		if c := is.candidacy; c != nil && c.firstAttempt() && (c.queued || c.probe != 0) {
			return true
		}
	}
	return false
}

// limitOf is how long the next probe of a candidate may take: it doubles with each attempt (R22).
func (o *Oracle) limitOf(c *candidacy) time.Duration {
	limit := o.config.ProbeTimeout
	for range c.attempts(o.lastReset) {
		limit = min(limit*2, o.config.MaxProbeTimeout)
	}
	return limit
}

// checkDelay: the wait doubles with each attempt, spread by a fifth either way, always the same way
// for the same identity, and never over the bound (R23).
func (o *Oracle) checkDelay(c *candidacy, delay time.Duration) {
	figure, bound := o.config.RetryDelay, o.config.MaxRetryDelay
	for range c.attempts(o.lastReset) - 1 {
		figure = min(figure*2, bound)
	}
	if delay < figure/1000*800 || delay > figure/1000*1200 || delay > bound {
		o.differ("R23: %s is asked again after %v instead of about %v", c.identity.Key(), delay, figure)
		return
	}
	if delay == bound {
		return // cut off
	}
	spread := int64(delay * 1000 / figure)
	if known, isKnown := o.spreads[c.identity]; isKnown && known != spread {
		o.differ("R23: the delays of %s are spread by %d and by %d", c.identity.Key(), known, spread)
	}
	o.spreads[c.identity] = spread
}
