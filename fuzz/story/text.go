package story

import (
	"fmt"
	"strings"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// InputText prints an input when it is asked.
type InputText struct{ Input core.Input }

// EffectText prints an effect when it is asked.
type EffectText struct{ Effect core.Effect }

// String is one line.
func (i InputText) String() string {
	switch in := i.Input.(type) {
	case core.PodStoreSet:
		sync := map[core.Sync]string{core.SyncDone: "synced", core.SyncPending: "not synced"}[in.Synced]
		return fmt.Sprintf("PodStoreSet %s%s", sync, podsText(in.Pods))
	case core.ResourceIndexUpdated:
		return fmt.Sprintf("ResourceIndexUpdated%s deleted %v upserted%s",
			resourceText(in.Resource), in.Deleted, podsText(in.Upserted))
	case core.ResourceSyncComplete:
		return "ResourceSyncComplete" + resourceText(in.Resource) + podsText(in.Pods)
	case core.DriftPreventionTriggered:
		return "DriftPreventionTriggered" + podsText(in.Pods)
	case core.CredentialsUpdated:
		return "CredentialsUpdated " + credentialsText(in.Credentials)
	case core.ProbeFinished:
		return fmt.Sprintf("ProbeFinished %d %T%+v", in.Probe, in.Outcome, in.Outcome)
	default:
		return strings.TrimPrefix(fmt.Sprintf("%T%+v", i.Input, i.Input), "core.")
	}
}

// resourceText is nothing for the resource that all inputs should be about.
func resourceText(resource string) string {
	if resource == core.HAProxyPods {
		return ""
	}
	return fmt.Sprintf(" of %q", resource)
}

// String is one line.
func (e EffectText) String() string {
	switch e := e.Effect.(type) {
	case core.StartProbe:
		return fmt.Sprintf("StartProbe %d %s with %s, at most %v",
			e.Probe, identityText(e.Identity), credentialsText(e.Credentials), e.Timeout)
	case core.Publish:
		return eventText(e.Event)
	default:
		return strings.TrimPrefix(fmt.Sprintf("%T%+v", e, e), "core.")
	}
}

func eventText(event core.Event) string {
	switch e := event.(type) {
	case core.HAProxyPodTerminated:
		return fmt.Sprintf("Terminated %s %s", identityText(e.Identity), e.Cause)
	case core.HAProxyPodRejected:
		return fmt.Sprintf("Rejected %s(%s) %s, %s, attempt %d, again in %v",
			e.Key(), e.UID, e.Reason, e.Cause, e.Attempt, e.RetryIn)
	case core.HAProxyPodsDiscovered:
		var keys []string
		for endpoint := range e.Fleet.All() {
			keys = append(keys, fmt.Sprintf("%s(%s)", endpoint.Key(), endpoint.UID))
		}
		return fmt.Sprintf("Discovered %v with %s, generation %d, replay %t, added %v updated %v "+
			"removed %v", keys, credentialsText(e.Fleet.Credentials()), e.Generation, e.Replay,
			e.Added, e.Updated, e.Removed)
	default:
		return fmt.Sprintf("%T%+v", event, event)
	}
}

func identityText(i core.Identity) string {
	return fmt.Sprintf("%s(%s, runtime %s, %s)", i.Key(), i.UID, i.RuntimeID, i.URL)
}

func podsText(pods []*core.Pod) string {
	var text strings.Builder
	for _, pod := range pods {
		text.WriteString(" " + podText(pod))
	}
	return text.String()
}

// podText leaves out what goes without saying.
func podText(pod *core.Pod) string {
	if pod == nil {
		return "nil"
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s(%s, %s, %s", pod.Key, pod.UID, pod.IP, pod.Phase)
	if pod.Terminating {
		text.WriteString(", terminating")
	}
	fmt.Fprintf(&text, ", agent %q, runtime %q, %v", pod.Agent, pod.RuntimeID, pod.Labels)
	if pod.NoAgent != "" {
		text.WriteString(", names its containers")
	}
	if pod.Malformed != "" {
		fmt.Fprintf(&text, ", malformed, unreadable %03b", pod.Unreadable)
	}
	text.WriteString(")")
	return text.String()
}
