package metrics

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/core/projection"
	"github.com/haproxy-discovery/haproxy-discovery/shell"
	"github.com/haproxy-discovery/haproxy-discovery/shell/timeline"
)

// What is asked when Prometheus scrapes. Only the age of the oldest candidate is looked for among
// pods, those that are unsettled; all else is counted already.
var (
	fleetSize = description("fleet_size",
		"Agents that are admitted: the endpoints of the fleet.")
	podCount = description("pods",
		"Pods by status: admitted, candidate (its first probe has no verdict yet), rejected, "+
			"ignored, undecided (the gate is closed).",
		"status")
	rejectedPods = description("rejected_pods",
		"Pods that are rejected now: by their facts, or because their agents have not answered.",
		"reason", "cause")
	gateOpen = description("gate_open",
		"1 once config, credentials, a pod store and its initial sync are known, else 0.")
	generation = description("generation",
		"Number of the last publication; 0 before the first.")
	probesInFlight = description("probes_in_flight",
		"Probes that have started and have neither finished nor been cancelled.")
	probesQueued = description("probes_queued",
		"Candidates waiting for a place to be probed in.", "attempt")
	storeViewAge = description("store_view_age_seconds",
		"Time since the pods were last known to be up to date; since the start, if they never were.")
	verifiedViewAge = description("verified_view_age_seconds",
		"Time since the last view of the pods that an audit has confirmed; since the start, if none has.")
	lostViews = description("lost_views_total",
		"How often an audit has found the view of the pods lost. It was made anew then.")
	sourceUp = description("source_up",
		"1 while nothing is wrong with where these inputs come from; 0 out of contact, or with nothing valid there.",
		"source")
	oldestUnadmitted = description("oldest_unadmitted_candidate_seconds",
		"How long the candidate that waits longest for its agent's first answer has waited; 0 if none does.")
	subscriberLag = description("subscriber_lag",
		"Events waiting to be read, by subscriber; the most, of subscribers with the same name.",
		"subscriber")
	inputLogBytes = description("input_log_bytes_total",
		"Bytes written to the input log by this run.")
	inputLogStopped = description("input_log_stopped",
		"1 after recording had to stop, else 0.")
	uncheckedSteps = description("invariant_unchecked_steps_total",
		"Steps that were not checked against the invariants, because the checks had fallen behind or failed.")
)

func description(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(prefix+name, help, labels, nil)
}

func describeGauges(descriptions chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{
		fleetSize, podCount, rejectedPods, gateOpen, generation, probesInFlight,
		probesQueued, storeViewAge, verifiedViewAge, lostViews, sourceUp,
		oldestUnadmitted, subscriberLag, inputLogBytes,
		inputLogStopped, uncheckedSteps,
	} {
		descriptions <- desc
	}
}

func gauge(desc *prometheus.Desc, value float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
}

// collectPresent tells of one moment: all its values are of the same state.
func (m *Metrics) collectPresent(collected chan<- prometheus.Metric) {
	moment, now := m.Now(), time.Now()
	state := moment.State
	collectPods(collected, moment)
	collected <- gauge(fleetSize, float64(state.Admitted().Len()))
	collected <- gauge(gateOpen, oneIf(state.GateOpen()))
	_, number, _ := state.Published()
	collected <- gauge(generation, float64(number))
	inFlight := 0
	for _, probe := range state.Probes() {
		if !probe.Cancelled {
			inFlight++
		}
	}
	collected <- gauge(probesInFlight, float64(inFlight))
	firstAttempts, retries := state.QueueLen()
	collected <- gauge(probesQueued, float64(firstAttempts), "first")
	collected <- gauge(probesQueued, float64(retries), "retry")
	collected <- gauge(storeViewAge, moment.ViewAge(now).Seconds())
	collectAudit(collected, moment.Audit(), now)
	collectSources(collected, moment.Sources)
	waited := 0.0
	if since := moment.OldestUnadmitted(); !since.IsZero() {
		waited = now.Sub(since).Seconds()
	}
	collected <- gauge(oldestUnadmitted, waited)
}

func collectPods(collected chan<- prometheus.Metric, moment timeline.Moment) {
	for _, status := range projection.Statuses() {
		collected <- gauge(podCount, float64(moment.Count(status)), string(status))
	}
	rejected := map[core.Reason]map[core.Cause]int{}
	for reason := range rejectionCauses {
		rejected[reason] = map[core.Cause]int{}
	}
	for count := range moment.Counts() {
		if count.Status == projection.Rejected {
			rejected[count.Reason][knownCause(count.Reason, count.Cause)] += count.Pods
		}
	}
	for reason, causes := range rejectionCauses {
		for _, cause := range causes {
			collected <- gauge(rejectedPods, float64(rejected[reason][cause]), string(reason), string(cause))
		}
	}
}

// collectAudit: a store that nobody audits has no such metrics.
func collectAudit(collected chan<- prometheus.Metric, audit timeline.Audit, now time.Time) {
	if audit.Began.IsZero() {
		return
	}
	collected <- gauge(verifiedViewAge, audit.Age(now).Seconds())
	collected <- prometheus.MustNewConstMetric(
		lostViews, prometheus.CounterValue, float64(audit.LostViews))
}

// collectSources: of several sources of a kind, all have to be well.
func collectSources(collected chan<- prometheus.Metric, sources []timeline.Source) {
	up := map[string]bool{}
	for _, source := range sources {
		kind := labelText(string(source.Kind))
		others, told := up[kind]
		up[kind] = source.Error == "" && (others || !told)
	}
	for kind, isUp := range up {
		collected <- gauge(sourceUp, oneIf(isUp), kind)
	}
}

// labelText is a text as Prometheus takes it for the value of a label.
func labelText(text string) string { return strings.ToValidUTF8(text, "?") }

func collectSubscribers(collected chan<- prometheus.Metric, component *shell.Component) {
	lags := map[string]int{}
	for _, subscription := range component.Subscriptions() {
		name := labelText(subscription.Name())
		lags[name] = max(lags[name], subscription.Lag())
	}
	for name, lag := range lags {
		collected <- gauge(subscriberLag, float64(lag), name)
	}
}

func (m *Metrics) collectInputLog(collected chan<- prometheus.Metric) {
	if m.inputLog == nil {
		return
	}
	collected <- prometheus.MustNewConstMetric(
		inputLogBytes, prometheus.CounterValue, float64(m.inputLog.Bytes()))
	collected <- gauge(inputLogStopped, oneIf(m.inputLog.Err() != nil))
}

func (m *Metrics) collectChecks(collected chan<- prometheus.Metric) {
	if m.checks != nil {
		collected <- prometheus.MustNewConstMetric(
			uncheckedSteps, prometheus.CounterValue, float64(m.checks.Unchecked()))
	}
}

func oneIf(condition bool) float64 {
	if condition {
		return 1
	}
	return 0
}
