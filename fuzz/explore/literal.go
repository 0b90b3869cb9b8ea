package explore

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// literals puts inputs as Go source. Pods are variables, so that what shares a pod goes on doing so.
type literals struct {
	names    map[*core.Pod]string
	declared []string
}

func (l *literals) input(input core.Input) string {
	switch in := input.(type) {
	case core.ConfigValidated:
		return fmt.Sprintf("core.ConfigValidated{AgentPort: %d, PodSelector: %q}",
			in.AgentPort, in.PodSelector)
	case core.CredentialsUpdated:
		return fmt.Sprintf("core.CredentialsUpdated{Credentials: %s}", credentialsLiteral(in.Credentials))
	case core.PodStoreSet:
		return fmt.Sprintf("core.PodStoreSet{Pods: %s, Synced: %d}", l.pods(in.Pods), in.Synced)
	case core.ResourceIndexUpdated:
		return fmt.Sprintf("core.ResourceIndexUpdated{Resource: %q, Upserted: %s, Deleted: %s}",
			in.Resource, l.pods(in.Upserted), refs(in.Deleted))
	case core.ResourceSyncComplete:
		return fmt.Sprintf("core.ResourceSyncComplete{Resource: %q, Pods: %s}",
			in.Resource, l.pods(in.Pods))
	case core.BecameLeader:
		return "core.BecameLeader{}"
	case core.DriftPreventionTriggered:
		return fmt.Sprintf("core.DriftPreventionTriggered{Pods: %s}", l.pods(in.Pods))
	case core.ProbeFinished:
		return fmt.Sprintf("core.ProbeFinished{Probe: %d, Outcome: %s}",
			in.Probe, outcomeLiteral(in.Outcome))
	case core.TimerFired:
		return fmt.Sprintf("core.TimerFired{Timer: %d}", in.Timer)
	default:
		return "nil"
	}
}

func outcomeLiteral(outcome core.Outcome) string {
	switch o := outcome.(type) {
	case core.Answer:
		return fmt.Sprintf("core.Answer{Version: %q, FullVersion: %q}", o.Version, o.FullVersion)
	case core.Failure:
		return fmt.Sprintf("core.Failure{Cause: %q, Detail: %q}", o.Cause, o.Detail)
	default:
		return "nil"
	}
}

// credentialsLiteral makes a password up: only same or other counts.
func credentialsLiteral(credentials core.Credentials) string {
	if credentials.IsZero() {
		return "core.Credentials{}"
	}
	return fmt.Sprintf("credentials(%q)", credentials.Username())
}

func (l *literals) pods(pods []*core.Pod) string {
	if pods == nil {
		return "nil"
	}
	names := make([]string, 0, len(pods))
	for _, pod := range pods {
		names = append(names, l.pod(pod))
	}
	return "[]*core.Pod{" + strings.Join(names, ", ") + "}"
}

func (l *literals) pod(pod *core.Pod) string {
	if pod == nil {
		return "nil"
	}
	if name, found := l.names[pod]; found {
		return name
	}
	name := fmt.Sprintf("pod%d", len(l.names)+1)
	l.names[pod] = name
	l.declared = append(l.declared, name+" := "+podLiteral(pod))
	return name
}

func podLiteral(pod *core.Pod) string {
	var fields strings.Builder
	field := func(format string, args ...any) { fmt.Fprintf(&fields, format+",\n", args...) }
	field("Key: core.PodKey{Namespace: %q, Name: %q}", pod.Key.Namespace, pod.Key.Name)
	field("UID: %q", pod.UID)
	if pod.Labels != nil {
		var labels []string
		for _, name := range slices.Sorted(maps.Keys(pod.Labels)) {
			labels = append(labels, fmt.Sprintf("%q: %q", name, pod.Labels[name]))
		}
		field("Labels: map[string]string{%s}", strings.Join(labels, ", "))
	}
	if pod.IP.IsValid() {
		field("IP: netip.MustParseAddr(%q)", pod.IP)
	}
	field("Phase: %q", pod.Phase)
	if pod.Terminating {
		field("Terminating: true")
	}
	field("Agent: %q", pod.Agent)
	field("RuntimeID: %q", pod.RuntimeID)
	if pod.NoAgent != "" {
		field("NoAgent: %q", pod.NoAgent)
	}
	if pod.Malformed != "" {
		field("Malformed: %q", pod.Malformed)
	}
	if pod.Unreadable != 0 {
		field("Unreadable: %d", pod.Unreadable)
	}
	return "&core.Pod{\n" + fields.String() + "}"
}

func refs(refs []core.PodRef) string {
	if refs == nil {
		return "nil"
	}
	var literals []string
	for _, ref := range refs {
		literals = append(literals, fmt.Sprintf("{Key: core.PodKey{Namespace: %q, Name: %q}, UID: %q}",
			ref.Key.Namespace, ref.Key.Name, ref.UID))
	}
	return "[]core.PodRef{" + strings.Join(literals, ", ") + "}"
}

// configLiteral gives all fields, so that other defaults do not change the test.
func configLiteral(config core.Config) string {
	return strings.ReplaceAll(fmt.Sprintf("%#v", core.New(config).Config()), ", ", ",\n")
}
