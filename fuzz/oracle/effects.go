package oracle

import (
	"slices"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// expectation is what a step has to tell.
type expectation struct {
	refusals   int
	cancels    []core.ProbeID
	stops      []core.TimerID
	rejected   []core.HAProxyPodRejected
	terminated []core.HAProxyPodTerminated
	discovery  discovery
	probed     []*candidacy
	// due tells that a publication timer has fired.
	due bool
	// anyDetail: what a report says of a result that is none is core's choice.
	anyDetail bool
	// The timers to start: at most one of each kind.
	retryTimer        *candidacy
	publishTimer      bool
	firstPublishTimer bool

	// firsts and retries are who waits for a place.
	firsts, retries []*candidacy
}

func (e *expectation) clear() {
	*e = expectation{
		cancels: e.cancels[:0], stops: e.stops[:0],
		rejected: e.rejected[:0], terminated: e.terminated[:0],
		discovery: discovery{
			added: e.discovery.added[:0], updated: e.discovery.updated[:0],
			removed: e.discovery.removed[:0],
		},
		probed: e.probed[:0], firsts: e.firsts[:0], retries: e.retries[:0],
	}
}

// The groups in which effects come (R14); refusals may come anywhere.
const (
	refusals = iota
	endings
	rejections
	terminations
	discoveries
	beginnings
)

// tally counts the effects of a step.
type tally struct {
	refused, ended, rejected, terminated, discovered, probed int
	started                                                  []core.StartTimer
}

// compareEffects ticks the effects off against what the step has to tell, and learns the numbers of
// the probes and timers started.
func (o *Oracle) compareEffects(effects []core.Effect, after core.State) {
	e := &o.expected
	var seen tally
	toEnd, toTell := len(e.cancels)+len(e.stops), 0
	if e.discovery.wanted {
		toTell = 1
	}
	last := refusals
	for _, effect := range effects {
		group := o.compareEffect(effect, &seen)
		if group == refusals {
			continue
		}
		if group < last {
			o.differ("R14: %T comes too late in the step", effect)
		}
		last = group
	}
	o.count("refusals", seen.refused, e.refusals)
	o.count("cancellations and stopped timers", seen.ended, toEnd)
	o.count("Rejected", seen.rejected, len(e.rejected))
	o.count("Terminated", seen.terminated, len(e.terminated))
	o.count("Discovered", seen.discovered, toTell)
	o.count("probes started", seen.probed, len(e.probed))
	o.compareTimers(seen.started, after)
}

func (o *Oracle) compareEffect(effect core.Effect, seen *tally) (group int) {
	switch effect := effect.(type) {
	case core.Refuse:
		seen.refused++
		return refusals
	case core.CancelProbe:
		seen.ended++
		if !tick(&o.expected.cancels, effect.Probe) {
			o.differ("R24: probe %d is cancelled", effect.Probe)
		}
		return endings
	case core.StopTimer:
		seen.ended++
		if !tick(&o.expected.stops, effect.Timer) {
			o.differ("I8: timer %d is stopped", effect.Timer)
		}
		return endings
	case core.StartTimer:
		seen.started = append(seen.started, effect)
		return beginnings
	case core.StartProbe:
		o.compareProbe(seen.probed, effect)
		seen.probed++
		return beginnings
	case core.Publish:
		return o.compareEvent(effect.Event, seen)
	default:
		o.differ("R14: no known effect: %T", effect)
		return refusals
	}
}

func (o *Oracle) compareEvent(event core.Event, seen *tally) (group int) {
	switch event := event.(type) {
	case core.HAProxyPodRejected:
		o.compareRejected(seen.rejected, event)
		seen.rejected++
		return rejections
	case core.HAProxyPodTerminated:
		o.compareTerminated(seen.terminated, event)
		seen.terminated++
		return terminations
	case core.HAProxyPodsDiscovered:
		o.compareDiscovered(event)
		seen.discovered++
		return discoveries
	default:
		o.differ("R14: no known event: %T", event)
		return refusals
	}
}

// tick takes one off a list, and tells whether it was on it.
func tick[T comparable](list *[]T, one T) bool {
	at := slices.Index(*list, one)
	if at >= 0 {
		*list = slices.Delete(*list, at, at+1)
	}
	return at >= 0
}

func (o *Oracle) count(what string, got, want int) {
	if got != want {
		o.differ("R14: %d %s instead of %d", got, what, want)
	}
}

func (o *Oracle) compareRejected(at int, event core.HAProxyPodRejected) {
	if at >= len(o.expected.rejected) {
		o.differ("R8: rejected needlessly: %+v", event)
		return
	}
	want := &o.expected.rejected[at]
	if o.expected.anyDetail {
		want.Detail = event.Detail
	}
	if want.Attempt > 0 {
		want.RetryIn = event.RetryIn // compared with the timer
	}
	if event != *want {
		o.differ("R23: rejected %+v instead of %+v", event, *want)
	}
}

func (o *Oracle) compareTerminated(at int, event core.HAProxyPodTerminated) {
	if at >= len(o.expected.terminated) {
		o.differ("R15: terminated needlessly: %+v", event)
		return
	}
	if want := o.expected.terminated[at]; event != want {
		o.differ("R14: terminated %+v instead of %+v", event, want)
	}
}

func (o *Oracle) compareDiscovered(event core.HAProxyPodsDiscovered) {
	d := &o.expected.discovery
	if !d.wanted {
		o.differ("R17: published needlessly, generation %d", event.Generation)
		return
	}
	if event.Generation != o.published.generation {
		o.differ("R18: generation %d instead of %d", event.Generation, o.published.generation)
	}
	if event.Trigger != d.trigger || event.Replay != d.replay ||
		event.CredentialsChanged != d.credentialsChanged {
		o.differ("R16: trigger %s, replay %t, credentials changed %t instead of %s, %t, %t",
			event.Trigger, event.Replay, event.CredentialsChanged,
			d.trigger, d.replay, d.credentialsChanged)
	}
	o.compareKeyList("added", event.Added, d.added)
	o.compareKeyList("updated", event.Updated, d.updated)
	o.compareKeyList("removed", event.Removed, d.removed)
	o.compareFleet("told", event.Fleet, o.published.fleet, o.published.credentials)
}

func (o *Oracle) compareKeyList(name string, got, want []core.PodKey) {
	if !slices.Equal(got, want) {
		o.differ("R17: %s are %v instead of %v", name, got, want)
	}
}

func (o *Oracle) compareProbe(at int, start core.StartProbe) {
	if start.Probe <= o.lastProbe {
		o.differ("R21: the number of probe %d is not new", start.Probe)
	}
	o.lastProbe = max(o.lastProbe, start.Probe)
	if at >= len(o.expected.probed) {
		o.differ("R21: probe %d of %s is needless", start.Probe, start.Identity.Key())
		return
	}
	c := o.expected.probed[at]
	if start.Identity != c.identity {
		o.differ("R21: %+v is probed instead of %+v", start.Identity, c.identity)
	}
	if start.Credentials != o.facts.credentials {
		o.differ("I3: probe %d of %s has old credentials", start.Probe, start.Identity.Key())
	}
	if limit := o.limitOf(c); start.Timeout != limit {
		o.differ("R22: probe %d may take %v instead of %v", start.Probe, start.Timeout, limit)
	}
	c.probe = start.Probe
	o.outstanding[len(o.outstanding)-len(o.expected.probed)+at].id = start.Probe
}

// compareTimers tells by the state which of the timers started is which.
func (o *Oracle) compareTimers(started []core.StartTimer, after core.State) {
	e := &o.expected
	take := func(id core.TimerID) core.StartTimer {
		at := slices.IndexFunc(started, func(s core.StartTimer) bool { return s.Timer == id })
		if at < 0 {
			o.differ("I8: a timer that should be started is not")
			return core.StartTimer{}
		}
		start := started[at]
		started = slices.Delete(started, at, at+1)
		if id <= o.lastTimer {
			o.differ("I8: the number of timer %d is not new", id)
		}
		return start
	}
	if c := e.retryTimer; c != nil {
		standing, _ := after.Standing(c.identity.Key())
		start := take(standing.RetryTimer)
		c.timer = start.Timer
		o.checkDelay(c, start.After)
		if len(e.rejected) > 0 && e.rejected[0].RetryIn != start.After {
			o.differ("R23: %s is told to be asked again in %v instead of %v",
				c.identity.Key(), e.rejected[0].RetryIn, start.After)
		}
	}
	if e.publishTimer {
		start := take(after.PublishTimer())
		o.publishTimer = start.Timer
		if start.After != o.config.PublishDelay {
			o.differ("R17: admissions wait for %v", start.After)
		}
	}
	if e.firstPublishTimer {
		start := take(after.FirstPublishTimer())
		o.firstPublishTimer = start.Timer
		if start.After != o.config.FirstPublishDelay {
			o.differ("R17: the first publication waits for %v", start.After)
		}
	}
	if len(started) > 0 {
		o.differ("I8: timer %d is started needlessly", started[0].Timer)
	}
	o.lastTimer = max(o.lastTimer, o.publishTimer, o.firstPublishTimer)
	if e.retryTimer != nil {
		o.lastTimer = max(o.lastTimer, e.retryTimer.timer)
	}
}
