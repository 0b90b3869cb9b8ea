package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
)

const prefix = "haptic_discovery_"

// counters are what steps and problems count.
type counters struct {
	rejections, publications, terminations, passes *prometheus.CounterVec
	probes, problems, violations                   *prometheus.CounterVec
	storeErrors                                    prometheus.Counter
	probeSeconds, reduceSeconds                    prometheus.Histogram
}

func newCounters() counters {
	return counters{
		rejections: counterVec("haptic_haproxy_pods_rejected_total",
			"Rejections reported: each failed probe of a pod that is not admitted, and each pod rejected "+
				"by its facts, again in every full pass.", "reason", reasons),
		publications: counterVec(prefix+"publications_total",
			"Fleets published, by the input that led to it. became_leader counts replays.",
			"trigger", publicationTriggers),
		terminations: counterVec(prefix+"terminations_total",
			"Published endpoints that were retired, by cause.", "cause", terminationCauses),
		passes: counterVec(prefix+"passes_total",
			"Full passes over all pods, by the input that led to it.", "trigger", passTriggers),
		probes: counterVec(prefix+"probes_total",
			"Probes that have ended: answered, cancelled, or the cause of failure.", "result", probeResults),
		problems: counterVec(prefix+"problems_total",
			"Problems around the loop that discovery has survived, other than store errors, by kind.",
			"kind", problemKinds),
		violations: counterVec(prefix+"invariant_violations_total",
			"Steps found to break an invariant or a rule, by its number. Any is a bug.",
			"invariant", nil), // they begin with the checks: 0 where nobody checks would say that all is well
		storeErrors: prometheus.NewCounter(prometheus.CounterOpts{
			Name: prefix + "store_errors_total",
			Help: "Reads of the pod store that have failed. The last fleet stands meanwhile.",
		}),
		probeSeconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: prefix + "probe_duration_seconds",
			Help: "Time from the start of a probe until its result was taken up; cancelled ones left out.",
			// Time limits are 1, 2, 4 and 5 seconds.
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2, 4, 5, 10},
		}),
		reduceSeconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    prefix + "reduce_duration_seconds",
			Help:    "Time that the reducer has taken for one input.",
			Buckets: prometheus.ExponentialBuckets(1e-6, 4, 10), // 1 µs to 0.26 s
		}),
	}
}

func (c *counters) all() []prometheus.Collector {
	return []prometheus.Collector{
		c.rejections, c.publications, c.terminations, c.passes, c.probes, c.problems, c.violations,
		c.storeErrors, c.probeSeconds, c.reduceSeconds,
	}
}

// counterVec begins with 0 for each value of its label.
func counterVec(name, help, label string, values []string) *prometheus.CounterVec {
	vec := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{label})
	for _, value := range values {
		vec.WithLabelValues(value)
	}
	return vec
}
