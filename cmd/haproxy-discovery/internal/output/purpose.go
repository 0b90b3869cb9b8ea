package output

import (
	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// What a probe or a timer is for, in the words of core's documentation.
const (
	firstAttempt = "first_attempt"
	retry        = "retry"
	publish      = "publish"
	firstPublish = "first_publish"
	// cancelled is a probe whose answer decides nothing any more; nothing waits for a forgotten one.
	cancelled = "cancelled"
	forgotten = "none"
)

// probeFields name the pod that an outstanding probe asks, and why.
func probeFields(state core.State, id core.ProbeID) []field {
	probe, found := state.Probe(id)
	switch {
	case !found:
		return []field{{"purpose", forgotten}}
	case probe.Cancelled:
		return []field{{"pod", probe.Identity.Key().String()}, {"purpose", cancelled}}
	case probe.Retry:
		return []field{{"pod", probe.Identity.Key().String()}, {"purpose", retry}}
	default:
		return []field{{"pod", probe.Identity.Key().String()}, {"purpose", firstAttempt}}
	}
}

// timerFields name what an armed timer is for, and the pod, if it is one pod's.
func timerFields(state core.State, id core.TimerID) []field {
	if key, found := state.RetryTimer(id); found {
		return []field{{"pod", key.String()}, {"purpose", retry}}
	}
	switch {
	case id == 0:
		return []field{{"purpose", forgotten}}
	case id == state.PublishTimer():
		return []field{{"purpose", publish}}
	case id == state.FirstPublishTimer():
		return []field{{"purpose", firstPublish}}
	default:
		return []field{{"purpose", forgotten}}
	}
}
