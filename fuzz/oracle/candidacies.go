package oracle

import (
	"slices"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// candidacy is the time during which one identity is a candidate without a break. An agent's answer
// counts within it and no longer (R11, R12).
type candidacy struct {
	identity core.Identity
	// told is what became of its probes, in order, as far as that is a verdict (R24).
	told []verdictOfAgent

	// It waits for its agent in one of these ways, or not at all: queued in a step, its probe in
	// flight, or its retry timer armed.
	queued bool
	since  int
	probe  core.ProbeID
	timer  core.TimerID
}

// verdictOfAgent is an answer or a failure of an agent.
type verdictOfAgent struct {
	step     int
	answered bool
	version  core.Version
}

// admitted tells whether its agent has ever answered (R5).
func (c *candidacy) admitted() bool {
	return slices.ContainsFunc(c.told, func(v verdictOfAgent) bool { return v.answered })
}

// version is the last one that its agent told; unknown if there is none (R13).
func (c *candidacy) version() core.Version {
	for _, v := range slices.Backward(c.told) {
		if v.version.Text != "" {
			return v.version
		}
	}
	return core.Version{}
}

// attempts counts the verdicts since the back-off was reset, which a final answer does, too.
func (c *candidacy) attempts(lastReset int) int {
	if c.version().Text != "" {
		return 0
	}
	count := 0
	for _, v := range c.told {
		if v.step > lastReset {
			count++
		}
	}
	return count
}

// firstAttempt tells that its agent has given no verdict yet (R21).
func (c *candidacy) firstAttempt() bool { return len(c.told) == 0 }

func (c *candidacy) queue(step int) { c.queued, c.since = true, step }

// followCandidacies ends those whose identity is no longer a candidate's, and begins new ones.
func (o *Oracle) followCandidacies(in meaning) {
	for i := range o.was {
		was := &o.was[i]
		if was.candidacy == nil {
			continue
		}
		is := find(o.now, was.pod.Key)
		if slices.Contains(in.deleted, was.pod.Key) {
			is = nil
		}
		if is != nil && is.verdict.Kind == core.IsCandidate &&
			o.identityOf(is.pod) == was.candidacy.identity {
			is.candidacy = was.candidacy
			continue
		}
		o.end(was, is)
	}
	for i := range o.now {
		is := &o.now[i]
		if is.verdict.Kind == core.IsCandidate && is.candidacy == nil {
			is.candidacy = &candidacy{identity: o.identityOf(is.pod)}
			is.candidacy.queue(o.step)
		}
	}
}

// end stops whatever a candidacy waits for, and retires the endpoint if it was published. is is the
// pod's present place, nil if it was deleted.
func (o *Oracle) end(was, is *place) {
	c := was.candidacy
	if c.probe != 0 {
		o.cancel(c.probe)
	}
	if c.timer != 0 {
		o.expected.stops = append(o.expected.stops, c.timer)
	}
	if o.isPublished(c.identity) {
		o.expected.terminated = append(o.expected.terminated,
			core.HAProxyPodTerminated{Identity: c.identity, Cause: o.causeOf(was, is)})
	}
}

func (o *Oracle) candidacyOf(identity core.Identity) *candidacy {
	if is := find(o.now, identity.Key()); is != nil && is.candidacy != nil &&
		is.candidacy.identity == identity {
		return is.candidacy
	}
	return nil
}
