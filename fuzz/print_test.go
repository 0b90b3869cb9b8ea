package fuzz

import (
	"fmt"
	"strings"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// inputText and effectText print what a story is made of, pods in full; only when they are asked.
type (
	inputText  struct{ input core.Input }
	effectText struct{ effect core.Effect }
)

func (i inputText) String() string {
	switch in := i.input.(type) {
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
		for i, c := range credentials {
			if c == in.Credentials {
				return fmt.Sprintf("CredentialsUpdated %c", 'A'+i)
			}
		}
		return "CredentialsUpdated none"
	default:
		return fmt.Sprintf("%T%+v", i.input, i.input)
	}
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

func (e effectText) String() string {
	publish, _ := e.effect.(core.Publish)
	discovered, is := publish.Event.(core.HAProxyPodsDiscovered)
	if !is {
		return fmt.Sprintf("%T%+v", e.effect, e.effect)
	}
	var keys []string
	for endpoint := range discovered.Fleet.All() {
		keys = append(keys, fmt.Sprintf("%s/%s", endpoint.Key(), endpoint.UID))
	}
	return fmt.Sprintf("Discovered %v generation %d replay %t added %v updated %v removed %v",
		keys, discovered.Generation, discovered.Replay, discovered.Added, discovered.Updated,
		discovered.Removed)
}
