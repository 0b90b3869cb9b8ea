// Package metrics shows discovery to Prometheus. A Metrics is an observer that counts what happens,
// and a prometheus.Collector that looks at the present state when it is scraped: a step of the loop
// costs a few counters, however many pods there are.
//
//	times := timeline.New()
//	counted := metrics.New(times)
//	component := shell.New(bus, logger, shell.WithObserver(times), shell.WithObserver(counted))
//	counted.FollowSubscribers(component.Subscriptions)
//	registry.MustRegister(counted)
//
// Labels take values of closed sets (labels.go), which are there with 0 from the beginning, so that
// the first increase of a counter is seen as one; only subscribers, sources and the problems of
// adapters bring names of their own. Two components in
// one program need registries of their own, or prometheus.WrapRegistererWith.
package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/core/invariant"
	"github.com/haproxy-discovery/haproxy-discovery/effects"
	"github.com/haproxy-discovery/haproxy-discovery/shell"
	"github.com/haproxy-discovery/haproxy-discovery/shell/timeline"
)

// Metrics observes one component and is collected by Prometheus.
type Metrics struct {
	counters counters
	times    *timeline.Timeline
	// started belongs to the component's loop: when each outstanding probe has started.
	started map[core.ProbeID]time.Time

	subscriptions func() []*effects.Subscription
	inputLog      InputLog
	checks        Checks
}

// InputLog is what is asked of a recorder; shell/recording's is one.
type InputLog interface {
	// Bytes counts what was written.
	Bytes() int64
	// Err tells why recording has stopped; nil while it has not.
	Err() error
}

// Checks is what is asked of who checks the invariants; shell/checking's Checker is one.
type Checks interface {
	// Unchecked counts the steps left out.
	Unchecked() uint64
}

// New makes the metrics. What they tell of the present comes from the timeline, which must observe
// the same component.
func New(times *timeline.Timeline) *Metrics {
	return &Metrics{counters: newCounters(), times: times, started: map[core.ProbeID]time.Time{}}
}

// FollowSubscribers adds how far each subscriber lags behind. To be called before the metrics are
// registered, with the component's Subscriptions.
func (m *Metrics) FollowSubscribers(subscriptions func() []*effects.Subscription) {
	m.subscriptions = subscriptions
}

// FollowInputLog adds what becomes of the input log. To be called before the metrics are
// registered.
func (m *Metrics) FollowInputLog(log InputLog) { m.inputLog = log }

// FollowChecks adds what becomes of the checks of the invariants. To be called before the metrics are
// registered.
func (m *Metrics) FollowChecks(checks Checks) {
	m.checks = checks
	for _, name := range invariant.Names() {
		m.counters.violations.WithLabelValues(name)
	}
}

// InvariantViolated counts a violation by the number of the invariant or rule, I4 or R17. Safe for
// concurrent use.
func (m *Metrics) InvariantViolated(invariant string) {
	m.counters.violations.WithLabelValues(invariant).Inc()
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(descriptions chan<- *prometheus.Desc) {
	for _, collector := range m.counters.all() {
		collector.Describe(descriptions)
	}
	describeGauges(descriptions)
}

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(collected chan<- prometheus.Metric) {
	for _, collector := range m.counters.all() {
		collector.Collect(collected)
	}
	m.collectPresent(collected)
	m.collectSubscribers(collected)
	m.collectInputLog(collected)
	m.collectChecks(collected)
}

// Taken implements shell.Observer.
func (m *Metrics) Taken(time.Time, core.Input) {}

// Reduced implements shell.Observer.
func (m *Metrics) Reduced(step shell.Step) {
	m.counters.reduceSeconds.Observe(step.Took.Seconds())
	if finished, is := step.Input.(core.ProbeFinished); is {
		m.probeFinished(step, finished)
	}
	if trigger, is := fullPass(step); is {
		m.counters.passes.WithLabelValues(string(trigger)).Inc()
	}
	for _, effect := range step.Effects {
		switch e := effect.(type) {
		case core.StartProbe:
			m.started[e.Probe] = step.Time
		case core.Publish:
			m.published(e.Event)
		}
	}
}

func (m *Metrics) published(event core.Event) {
	switch e := event.(type) {
	case core.HAProxyPodsDiscovered:
		m.counters.publications.WithLabelValues(string(e.Trigger)).Inc()
	case core.HAProxyPodTerminated:
		m.counters.terminations.WithLabelValues(string(e.Cause)).Inc()
	case core.HAProxyPodRejected:
		m.counters.rejections.WithLabelValues(string(e.Reason)).Inc()
	}
}

// probeFinished counts a probe that was cancelled as that, whatever came of it, and does not time
// it.
func (m *Metrics) probeFinished(step shell.Step, finished core.ProbeFinished) {
	probe, known := step.Before.Probe(finished.Probe)
	if !known {
		return
	}
	began, timed := m.started[finished.Probe]
	delete(m.started, finished.Probe)
	if probe.Cancelled {
		m.counters.probes.WithLabelValues(resultCancelled).Inc()
		return
	}
	m.counters.probes.WithLabelValues(resultOf(finished.Outcome)).Inc()
	if timed {
		m.counters.probeSeconds.Observe(step.Time.Sub(began).Seconds())
	}
}

// Problem implements shell.Observer.
func (m *Metrics) Problem(problem shell.Problem) {
	if problem.Kind == shell.StoreUnreadable {
		m.counters.storeErrors.Inc()
		return
	}
	m.counters.problems.WithLabelValues(labelText(string(problem.Kind))).Inc()
}

// fullPass tells whether a step looked at every pod (R7).
func fullPass(step shell.Step) (core.Trigger, bool) {
	if !step.After.GateOpen() {
		return "", false
	}
	switch in := step.Input.(type) {
	case core.ConfigValidated:
		return core.TriggerConfigValidated, !refused(step)
	case core.CredentialsUpdated:
		return core.TriggerCredentialsUpdated, !refused(step)
	case core.PodStoreSet:
		return core.TriggerPodStoreSet, true
	case core.ResourceSyncComplete:
		return core.TriggerResourceSyncComplete, in.Resource == core.HAProxyPods
	case core.DriftPreventionTriggered:
		return core.TriggerDriftPreventionTriggered, true
	default:
		return "", false
	}
}

// refused tells that a step has dropped its input as a whole: refusals come first.
func refused(step shell.Step) bool {
	if len(step.Effects) == 0 {
		return false
	}
	_, is := step.Effects[0].(core.Refuse)
	return is
}
