package core_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/samber/lo"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// printEffects prints effects one a line. The state is the one after the step: it tells what a
// timer is for. Of credentials only the username is shown.
func printEffects(state core.State, effects []core.Effect) []string {
	return lo.Map(effects, func(effect core.Effect, _ int) string {
		switch e := effect.(type) {
		case core.StartProbe:
			return fmt.Sprintf("start probe %d %s as %s within %v",
				e.Probe, printIdentity(e.Identity), e.Credentials.Username(), e.Timeout)
		case core.CancelProbe:
			return fmt.Sprintf("cancel probe %d", e.Probe)
		case core.StartTimer:
			return fmt.Sprintf("start timer %d %s", e.Timer, printTimer(state, e))
		case core.StopTimer:
			return fmt.Sprintf("stop timer %d", e.Timer)
		case core.Refuse:
			return "refuse: " + e.Reason
		case core.Publish:
			return printEvent(e.Event)
		default:
			return fmt.Sprintf("unknown effect %T", effect)
		}
	})
}

func printEvent(event core.Event) string {
	switch e := event.(type) {
	case core.HAProxyPodsDiscovered:
		return printDiscovered(e)
	case core.HAProxyPodTerminated:
		return fmt.Sprintf("terminated %s %s", printIdentity(e.Identity), e.Cause)
	case core.HAProxyPodRejected:
		line := fmt.Sprintf("rejected %s %s %s %s", e.Key(), e.UID, e.Reason, e.Cause)
		if e.Detail != "" {
			line += fmt.Sprintf(" (%s)", e.Detail)
		}
		if e.Attempt != 0 || e.RetryIn != 0 {
			line += fmt.Sprintf(" attempt %d, retry in %s", e.Attempt, printDelay(e.RetryIn))
		}
		return line
	default:
		return fmt.Sprintf("unknown event %T", event)
	}
}

func printDiscovered(e core.HAProxyPodsDiscovered) string {
	line := fmt.Sprintf("discovered %d by %s %s", e.Generation, e.Trigger, printFleet(e.Fleet))
	for _, list := range []struct {
		name string
		keys []core.PodKey
	}{{"added", e.Added}, {"updated", e.Updated}, {"removed", e.Removed}} {
		if len(list.keys) > 0 {
			line += " | " + list.name + " " + printKeys(slices.Values(list.keys))
		}
	}
	if e.CredentialsChanged {
		line += " | credentials changed"
	}
	if e.Replay {
		line += " | replay"
	}
	return line
}

func printFleet(fleet core.Fleet) string {
	endpoints := lo.Map(fleet.Endpoints(), func(e core.Endpoint, _ int) string {
		return fmt.Sprintf("%s %s %s", e.Key(), e.UID, printVersion(e.Version))
	})
	return fmt.Sprintf("as %s [%s]", fleet.Credentials().Username(), strings.Join(endpoints, ", "))
}

func printVersion(version core.Version) string {
	if !version.Known() {
		return "?"
	}
	return version.Text
}

func printIdentity(i core.Identity) string {
	return fmt.Sprintf("%s %s %s %s", i.Key(), i.UID, i.RuntimeID, i.URL)
}

// printTimer tells what a timer is for. Retry delays are spread by up to 20 %: they are shown as
// the delay they come from.
func printTimer(state core.State, timer core.StartTimer) string {
	switch timer.Timer {
	case state.PublishTimer():
		return fmt.Sprintf("publish in %v", timer.After)
	case state.FirstPublishTimer():
		return fmt.Sprintf("first publish in %v", timer.After)
	}
	for id, key := range state.RetryTimers() {
		if id == timer.Timer {
			return fmt.Sprintf("retry %s in %s", key, printDelay(timer.After))
		}
	}
	return fmt.Sprintf("for nothing in %v", timer.After)
}

// printDelay names the delay that a spread one comes from, 1 s to 30 s.
func printDelay(delay time.Duration) string {
	for _, seconds := range []float64{1, 2, 4, 8, 16, 30} {
		if math.Abs(delay.Seconds()-seconds) <= seconds/5 && delay <= 30*time.Second {
			return fmt.Sprintf("~%vs", seconds)
		}
	}
	return fmt.Sprintf("%v, which is no retry delay", delay)
}

// kindOf names an effect in the words of the guided tour.
func kindOf(effect core.Effect) string {
	switch e := effect.(type) {
	case core.StartProbe:
		return "probe"
	case core.CancelProbe:
		return "cancel"
	case core.StartTimer:
		return "timer"
	case core.StopTimer:
		return "stop"
	case core.Refuse:
		return "refuse"
	case core.Publish:
		switch e.Event.(type) {
		case core.HAProxyPodRejected:
			return "Rejected"
		case core.HAProxyPodTerminated:
			return "Terminated"
		case core.HAProxyPodsDiscovered:
			return "Discovered"
		}
	}
	return "unknown"
}
