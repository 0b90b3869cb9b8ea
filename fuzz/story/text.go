// Package story is how the tests of the reducer tell what has happened: inputs and effects as lines
// of text, pods in full, and credentials by the names of a fixed cast.
package story

import (
	"fmt"
	"slices"
	"strings"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// Credentials are the cast: A, B and C. Two share the username, two the password.
var Credentials = []core.Credentials{
	newCredentials("admin", "alpha"),
	newCredentials("admin", "beta"),
	newCredentials("other", "alpha"),
}

func newCredentials(username, password string) core.Credentials {
	c, err := core.NewCredentials(username, password)
	if err != nil {
		panic(err)
	}
	return c
}

// InputText prints an input when it is asked.
type InputText struct{ Input core.Input }

// EffectText prints an effect when it is asked.
type EffectText struct{ Effect core.Effect }

// String is one line.
func (i InputText) String() string {
	switch in := i.Input.(type) {
	case core.PodStoreSet:
		return fmt.Sprintf("PodStoreSet sync %d%s", in.Synced, podsText(in.Pods))
	case core.ResourceIndexUpdated:
		return fmt.Sprintf("ResourceIndexUpdated %q deleted %v upserted%s",
			in.Resource, in.Deleted, podsText(in.Upserted))
	case core.ResourceSyncComplete:
		return fmt.Sprintf("ResourceSyncComplete %q%s", in.Resource, podsText(in.Pods))
	case core.DriftPreventionTriggered:
		return "DriftPreventionTriggered" + podsText(in.Pods)
	case core.CredentialsUpdated:
		return "CredentialsUpdated " + credentialsText(in.Credentials)
	default:
		return fmt.Sprintf("%T%+v", i.Input, i.Input)
	}
}

func credentialsText(credentials core.Credentials) string {
	at := slices.Index(Credentials, credentials)
	if at < 0 {
		return "none"
	}
	return string(rune('A' + at))
}

func podsText(pods []*core.Pod) string {
	var text strings.Builder
	for _, pod := range pods {
		if pod == nil {
			text.WriteString(" nil")
			continue
		}
		fmt.Fprintf(&text, " %+v", *pod)
	}
	return text.String()
}

// String is one line.
func (e EffectText) String() string {
	publish, _ := e.Effect.(core.Publish)
	discovered, is := publish.Event.(core.HAProxyPodsDiscovered)
	if !is {
		return fmt.Sprintf("%T%+v", e.Effect, e.Effect)
	}
	var keys []string
	for endpoint := range discovered.Fleet.All() {
		keys = append(keys, fmt.Sprintf("%s/%s", endpoint.Key(), endpoint.UID))
	}
	return fmt.Sprintf("Discovered %v generation %d replay %t added %v updated %v removed %v",
		keys, discovered.Generation, discovered.Replay, discovered.Added, discovered.Updated,
		discovered.Removed)
}
