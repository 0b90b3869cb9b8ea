package explore

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// Coverage counts what was seen: kinds of inputs and effects, and of events with their causes.
type Coverage struct{ Inputs, Effects, Events Counts }

// Counts are by name.
type Counts map[string]int

func newCoverage() Coverage { return Coverage{Counts{}, Counts{}, Counts{}} }

func (c Coverage) note(input core.Input, effects []core.Effect) {
	c.Inputs[kindOf(input)]++
	for _, effect := range effects {
		c.Effects[kindOf(effect)]++
		if publish, is := effect.(core.Publish); is {
			c.Events[eventName(publish.Event)]++
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

func (c Coverage) add(other Coverage) {
	c.Inputs.add(other.Inputs)
	c.Effects.add(other.Effects)
	c.Events.add(other.Events)
}

func (c Counts) add(other Counts) {
	for name, count := range other {
		c[name] += count
	}
}

// String lists the names with their counts, in order.
func (c Counts) String() string {
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
func (c Coverage) missing() []string {
	var missing []string
	look := func(counts Counts, names ...string) {
		for _, name := range names {
			if counts[name] == 0 {
				missing = append(missing, name)
			}
		}
	}
	look(c.Inputs, "nil", "ConfigValidated", "CredentialsUpdated", "PodStoreSet",
		"ResourceIndexUpdated", "ResourceSyncComplete", "BecameLeader", "DriftPreventionTriggered",
		"ProbeFinished", "TimerFired")
	look(c.Effects, "StartProbe", "CancelProbe", "StartTimer", "StopTimer", "Publish", "Refuse")
	look(c.Events, "Discovered", "Discovered replay")
	for _, cause := range []core.Cause{
		core.CauseDeleted, core.CauseReplaced, core.CauseTerminating, core.CauseNotRunning,
		core.CauseDeselected, core.CauseNoIP, core.CauseMalformed, core.CauseAgentNotRunning,
		core.CausePortChanged, core.CauseAddressChanged, core.CauseContainerRestarted,
	} {
		look(c.Events, "Terminated "+string(cause))
	}
	for _, cause := range []core.Cause{
		core.CauseWaiting, core.CauseTerminated, core.CauseMissing, core.CauseMalformed,
		core.CauseRefused,
	} {
		look(c.Events, "Rejected "+string(cause))
	}
	return missing
}
