// Package metrics shows discovery to Prometheus. A Metrics is an observer that counts what happens,
// and a prometheus.Collector that looks at the newest projection when it is scraped: a step of the
// loop costs a few counters, however many pods there are.
//
//	counted := metrics.New()
//	component := shell.New(bus, logger, shell.WithObserver(counted))
//	registry.MustRegister(counted)
//
// One that observes no component fails the scrape, rather than giving numbers of nothing.
//
// Labels take values of closed sets (labels.go), which are there with 0 from the beginning, so that
// the first increase of a counter is seen as one; only subscribers, sources and the problems of
// adapters bring names of their own. Two components in
// one program need registries of their own, or prometheus.WrapRegistererWith.
package metrics

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/core/invariant"
	"github.com/haproxy-discovery/haproxy-discovery/core/projection"
	"github.com/haproxy-discovery/haproxy-discovery/shell"
	"github.com/haproxy-discovery/haproxy-discovery/shell/timeline"
)

// Metrics observes one component and is collected by Prometheus. The timeline's methods tell it
// where the component's inputs come from.
type Metrics struct {
	*timeline.Timeline
	counters counters
	// started belongs to the component's loop: when each outstanding probe has started.
	started map[core.ProbeID]time.Time

	component atomic.Pointer[shell.Component]
	inputLog  InputLog
	checks    Checks
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

// New makes the metrics.
func New() *Metrics {
	return &Metrics{
		Timeline: timeline.New(), counters: newCounters(), started: map[core.ProbeID]time.Time{},
	}
}

// Observes implements shell.ComponentObserver.
func (m *Metrics) Observes(component *shell.Component) { m.component.Store(component) }

// errUnobserving is what a scrape of metrics that belong to no component says.
var errUnobserving = errors.New("these metrics observe no component: give them to shell.WithObserver")

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
	component := m.component.Load()
	if component == nil {
		collected <- prometheus.NewInvalidMetric(fleetSize, errUnobserving)
		return
	}
	m.collectPresent(collected)
	collectSubscribers(collected, component)
	m.collectInputLog(collected)
	m.collectChecks(collected)
}

// Reduced implements shell.Observer.
func (m *Metrics) Reduced(step shell.Step) {
	m.Timeline.Reduced(step)
	m.counters.reduceSeconds.Observe(step.Took.Seconds())
	if finished, is := step.Input.(core.ProbeFinished); is {
		m.probeFinished(step, finished)
	}
	if projection.FullPass(step.Step) {
		m.counters.passes.WithLabelValues(string(core.TriggerOf(step.Input))).Inc()
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
	m.Timeline.Problem(problem)
	if problem.Kind == shell.StoreUnreadable {
		m.counters.storeErrors.Inc()
		return
	}
	m.counters.problems.WithLabelValues(labelText(string(problem.Kind))).Inc()
}
