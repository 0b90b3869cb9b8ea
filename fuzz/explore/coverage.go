package explore

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// coverage counts what was seen: kinds of inputs and effects, and of events with their causes.
type coverage struct{ inputs, effects, events counts }

// counts are by name.
type counts map[string]int

func newCoverage() coverage { return coverage{counts{}, counts{}, counts{}} }

func (c coverage) note(input core.Input, effects []core.Effect) {
	c.inputs[kindOf(input)]++
	for _, effect := range effects {
		c.effects[kindOf(effect)]++
		if publish, is := effect.(core.Publish); is {
			c.events[eventName(publish.Event)]++
		}
	}
}

func eventName(event core.Event) string {
	switch e := event.(type) {
	case core.HAProxyPodsDiscovered:
		if e.Replay {
			return "Discovered replay"
		}
		return "Discovered"
	case core.HAProxyPodTerminated:
		return "Terminated " + string(e.Cause)
	case core.HAProxyPodRejected:
		return "Rejected " + string(e.Cause)
	default:
		return kindOf(event)
	}
}

func kindOf(value any) string {
	if value == nil {
		return "nil"
	}
	return reflect.TypeOf(value).Name()
}

func (c coverage) add(other coverage) {
	c.inputs.add(other.inputs)
	c.effects.add(other.effects)
	c.events.add(other.events)
}

func (c counts) add(other counts) {
	for name, count := range other {
		c[name] += count
	}
}

// String lists the names with their counts, in order.
func (c counts) String() string {
	var text strings.Builder
	for i, name := range slices.Sorted(maps.Keys(c)) {
		if i > 0 {
			text.WriteString(", ")
		}
		fmt.Fprintf(&text, "%s %d", name, c[name])
	}
	return text.String()
}

// missing lists what an exploration of several worlds must have seen and has not.
func (c coverage) missing() []string {
	var missing []string
	look := func(seen counts, names ...string) {
		for _, name := range names {
			if seen[name] == 0 {
				missing = append(missing, name)
			}
		}
	}
	look(c.inputs, "nil", "ConfigValidated", "CredentialsUpdated", "PodStoreSet",
		"ResourceIndexUpdated", "ResourceSyncComplete", "BecameLeader", "DriftPreventionTriggered",
		"ProbeFinished", "TimerFired")
	look(c.effects, "StartProbe", "CancelProbe", "StartTimer", "StopTimer", "Publish", "Refuse")
	look(c.events, "Discovered", "Discovered replay")
	for _, cause := range []core.Cause{
		core.CauseDeleted, core.CauseReplaced, core.CauseTerminating, core.CauseNotRunning,
		core.CauseDeselected, core.CauseNoIP, core.CauseMalformed, core.CauseAgentNotRunning,
		core.CausePortChanged, core.CauseAddressChanged, core.CauseContainerRestarted,
	} {
		look(c.events, "Terminated "+string(cause))
	}
	for _, cause := range []core.Cause{
		core.CauseWaiting, core.CauseTerminated, core.CauseMissing, core.CauseMalformed,
		core.CauseRefused,
	} {
		look(c.events, "Rejected "+string(cause))
	}
	return missing
}
