package output

import (
	"cmp"
	"fmt"
	"net/netip"

	"github.com/samber/lo"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// PodFacts are the facts of one pod in a state, and whether the selector matches it; zero where
// the state does not know the pod.
type PodFacts struct {
	pod           *core.Pod
	selectorMatch string
}

// FactsOf reads them from a state.
func FactsOf(state core.State, key core.PodKey) PodFacts {
	standing, found := state.Standing(key)
	if !found {
		return PodFacts{}
	}
	return PodFacts{standing.Pod, selectorMatch(state, standing.Pod)}
}

// selectorMatch asks core about a pod with these labels against which nothing else can be said: a
// verdict names one thing only, and a pod that is Pending may be outside the selector too.
func selectorMatch(state core.State, pod *core.Pod) string {
	settings, known := state.Settings()
	if !known {
		return "unknown"
	}
	if pod.Unreadable.Has(core.FactLabels) {
		return "unreadable"
	}
	judge, err := core.Discovery{
		Config: state.Config(), AgentPort: settings.AgentPort, PodSelector: settings.PodSelector,
	}.Judge()
	if err != nil {
		return "unknown"
	}
	verdict, _ := judge.Verdict(&core.Pod{
		Key: pod.Key, UID: pod.UID, Labels: pod.Labels,
		IP: netip.IPv6Loopback(), Phase: core.PhaseRunning, Agent: core.AgentRunning,
	})
	if verdict.Kind == core.IsCandidate {
		return "yes"
	}
	return "no"
}

// Reselected tells that the selector takes another view of the same labels than it did before: a
// change of the configuration.
func (f PodFacts) Reselected(older PodFacts) bool {
	return f.pod != nil && older.pod != nil && f.selectorMatch != older.selectorMatch &&
		older.selectorMatch != "unknown"
}

func (f PodFacts) fields() []field {
	if f.pod == nil {
		return nil
	}
	ip := ""
	if f.pod.IP.IsValid() {
		ip = f.pod.IP.String()
	}
	return []field{
		{"uid", f.pod.UID}, {"phase", f.pod.Phase}, {"ip", ip}, {"terminating", f.pod.Terminating},
		{"agent", cmp.Or(string(f.pod.Agent), string(core.CauseMissing))},
		{"no_agent", f.pod.NoAgent}, {"runtime_id", f.pod.RuntimeID}, {"malformed", f.pod.Malformed},
		{"selector_match", f.selectorMatch}, {"labels", labels.Set(lo.Assign(f.pod.Labels))},
	}
}

// changedFrom gives the facts that differ from older ones of the same pod: all of them, if there
// are none or if it is another incarnation.
func (f PodFacts) changedFrom(older PodFacts) []field {
	if f.pod == nil || older.pod == nil || f.pod.UID != older.pod.UID {
		return f.fields()
	}
	var changed []field
	was := older.fields()
	for i, fact := range f.fields() {
		text := fmt.Sprint(fact.value)
		if text == fmt.Sprint(was[i].value) {
			continue
		}
		if text == "" {
			fact.value = "none"
		}
		changed = append(changed, fact)
	}
	return changed
}
