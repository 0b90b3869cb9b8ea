package invariant

import (
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strings"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// Fingerprint is all that a State says to its public questions, as a text of one line for each
// thing. States that say the same have the same fingerprint, in one process and as long as one of
// them lives: credentials appear as a username and a number that tells them apart and means nothing
// anywhere else.
func Fingerprint(state core.State) string {
	var text strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&text, format+"\n", args...) }

	settings, configured := state.Settings()
	line("config %+v", state.Config())
	line("settings %t %+v", configured, settings)
	line("credentials %s", tag(state.Credentials()))
	line("gate %t, synced %t, %d pods", state.GateOpen(), state.StoreSynced(), state.Len())
	for standing := range state.Standings() {
		line("pod %s", podText(standing.Pod))
		line("  %+v %+v admitted %t %+v attempts %d retry %t queued %t probe %d timer %d",
			standing.Verdict, standing.Identity, standing.Admitted, standing.Version,
			standing.Attempts, standing.Retry, standing.Queued, standing.Probe, standing.RetryTimer)
	}
	for standing := range state.Unsettled() {
		line("unsettled %s", standing.Pod.Key)
	}
	line("admitted %s", fleetText(state.Admitted()))
	fleet, generation, published := state.Published()
	line("published %t generation %d %s", published, generation, fleetText(fleet))
	line("unpublished %v", slices.Collect(state.Unpublished()))
	for _, p := range state.Probes() {
		line("probe %d %+v %s retry %t cancelled %t",
			p.Probe, p.Identity, tag(p.Credentials), p.Retry, p.Cancelled)
	}
	line("first attempts %v", slices.Collect(state.FirstAttempts()))
	line("retries %v", slices.Collect(state.Retries()))
	for timer, key := range state.RetryTimers() {
		line("retry timer %d %s", timer, key)
	}
	firsts, retries := state.QueueLen()
	line("queued %d %d, pending %t, retry timers %d",
		firsts, retries, state.FirstAttemptsPending(), state.RetryTimersLen())
	line("publish timer %d, first %d", state.PublishTimer(), state.FirstPublishTimer())
	return text.String()
}

func podText(pod *core.Pod) string {
	var labels []string
	for _, name := range slices.Sorted(maps.Keys(pod.Labels)) {
		labels = append(labels, fmt.Sprintf("%q=%q", name, pod.Labels[name]))
	}
	return fmt.Sprintf("%q %q %v %s %q terminating %t agent %q runtime %q malformed %q %d",
		pod.Key, pod.UID, labels, pod.IP, pod.Phase, pod.Terminating, pod.Agent, pod.RuntimeID,
		pod.Malformed, pod.Unreadable)
}

func fleetText(fleet core.Fleet) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%d %s", fleet.Len(), tag(fleet.Credentials()))
	for endpoint := range fleet.All() {
		fmt.Fprintf(&text, " %+v %+v", endpoint.Identity, endpoint.Version)
	}
	return text.String()
}

// credentialsSeed differs from process to process.
var credentialsSeed = maphash.MakeSeed()

// tag tells credentials apart. It is made from the place where the process keeps the password, not
// from the password.
func tag(credentials core.Credentials) string {
	if credentials.IsZero() {
		return "none"
	}
	number := maphash.Comparable(credentialsSeed, credentials)
	return fmt.Sprintf("%s#%x", credentials.Username(), number)
}
