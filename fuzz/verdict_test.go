package fuzz

import (
	"fmt"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// selects says by hand what the selectors of this world select.
var selects = map[string]func(labels map[string]string) bool{
	"":                 func(map[string]string) bool { return true },
	"app=lb":           func(l map[string]string) bool { return l["app"] == "lb" },
	"app in (lb, web)": func(l map[string]string) bool { return l["app"] != "" },
	"tier":             func(l map[string]string) bool { return l["tier"] != "" },
	"!tier":            func(l map[string]string) bool { return l["tier"] == "" },
}

// verdictOf is a naive reading of R1 to R5: the first line that fits.
func verdictOf(pod *core.Pod, settings core.ConfigValidated) string {
	readable := func(fact core.Facts) bool { return pod.Unreadable&fact == 0 }
	for _, rule := range []struct {
		verdict string
		fits    bool
	}{
		{"ignored terminating", pod.Terminating},
		{"ignored not_running", readable(core.FactPhase) && pod.Phase != "Running"},
		{"ignored deselected", readable(core.FactLabels) && !selects[settings.PodSelector](pod.Labels)},
		{"ignored no_ip", readable(core.FactIP) && !pod.IP.IsValid()},
		{"rejected malformed_pod malformed", pod.Malformed != ""},
		{"rejected agent_container_not_running waiting", pod.Agent == "waiting"},
		{"rejected agent_container_not_running terminated", pod.Agent == "terminated"},
		{"rejected agent_container_not_running missing", pod.Agent == ""},
	} {
		if rule.fits {
			return rule.verdict
		}
	}
	host := pod.IP.String()
	if pod.IP.Is6() {
		host = "[" + host + "]"
	}
	return fmt.Sprintf("candidate http://%s:%d", host, settings.AgentPort)
}

// misjudged says which pod a state judges wrongly; empty if there is none.
func misjudged(state core.State) string {
	settings, _ := state.Settings()
	for standing := range state.Standings() {
		want, got := "undecided", standing.Verdict.Kind.String()
		if state.GateOpen() {
			want = verdictOf(standing.Pod, settings)
		}
		switch standing.Verdict.Kind {
		case core.Ignored:
			got += fmt.Sprintf(" %s", standing.Verdict.Cause)
		case core.Rejected:
			got += fmt.Sprintf(" %s %s", standing.Verdict.Reason, standing.Verdict.Cause)
		case core.IsCandidate:
			got += " " + standing.Identity.URL
		}
		if got != want {
			return fmt.Sprintf("%s is %q instead of %q", standing.Pod.Key, got, want)
		}
	}
	return ""
}
