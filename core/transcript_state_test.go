package core_test

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/cockroachdb/datadriven"
	"github.com/samber/lo"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// printState prints the parts of a state that are named, or all of them, without what is empty.
func printState(state core.State, parts []datadriven.CmdArg) string {
	var printed []string
	for _, part := range []struct {
		name  string
		lines []string
	}{
		{"gate", printGate(state)},
		{"pods", printPods(state)},
		{"queues", printQueues(state)},
		{"probes", printProbes(state)},
		{"timers", printTimers(state)},
		{"published", printPublished(state)},
	} {
		named := lo.ContainsBy(parts, func(arg datadriven.CmdArg) bool { return arg.Key == part.name })
		if named || len(parts) == 0 {
			printed = append(printed, part.lines...)
		}
	}
	if len(printed) == 0 {
		return "nothing"
	}
	return strings.Join(printed, "\n")
}

func printGate(state core.State) []string {
	line := "gate closed"
	if state.GateOpen() {
		line = "gate open"
	}
	if settings, known := state.Settings(); known {
		line += fmt.Sprintf(", port %d, selector %q", settings.AgentPort, settings.PodSelector)
	}
	if !state.Credentials().IsZero() {
		line += ", as " + state.Credentials().Username()
	}
	if state.StoreSynced() {
		line += ", store synced"
	}
	return []string{line}
}

func printPods(state core.State) []string {
	var printed []string
	for st := range state.Standings() {
		line := fmt.Sprintf("pod %s %s %s", st.Pod.Key, st.Pod.UID, st.Verdict.Kind)
		for _, why := range []string{string(st.Verdict.Reason), string(st.Verdict.Cause)} {
			if why != "" {
				line += " " + why
			}
		}
		if st.Admitted {
			line += ", admitted " + printVersion(st.Version)
		}
		if st.Attempts != 0 {
			line += fmt.Sprintf(", attempts %d", st.Attempts)
		}
		if st.Queued {
			line += ", queued"
		}
		if st.Probe != 0 {
			line += fmt.Sprintf(", probe %d", st.Probe)
		}
		if st.RetryTimer != 0 {
			line += fmt.Sprintf(", timer %d", st.RetryTimer)
		}
		printed = append(printed, line)
	}
	return printed
}

func printQueues(state core.State) []string {
	var printed []string
	if queue := printKeys(state.FirstAttempts()); queue != "" {
		printed = append(printed, "first attempts "+queue)
	}
	if queue := printKeys(state.Retries()); queue != "" {
		printed = append(printed, "retries "+queue)
	}
	return printed
}

func printProbes(state core.State) []string {
	return lo.Map(state.Probes(), func(probe core.OutstandingProbe, _ int) string {
		line := fmt.Sprintf("probe %d %s as %s",
			probe.Probe, printIdentity(probe.Identity), probe.Credentials.Username())
		if probe.Retry {
			line += ", retry"
		}
		if probe.Cancelled {
			line += ", cancelled"
		}
		return line
	})
}

func printTimers(state core.State) []string {
	retries := map[core.TimerID]core.PodKey{}
	for id, key := range state.RetryTimers() {
		retries[id] = key
	}
	return lo.Map(state.Timers(), func(id core.TimerID, _ int) string {
		switch id {
		case state.PublishTimer():
			return fmt.Sprintf("timer %d publish", id)
		case state.FirstPublishTimer():
			return fmt.Sprintf("timer %d first publish", id)
		}
		return fmt.Sprintf("timer %d retry %s", id, retries[id])
	})
}

func printPublished(state core.State) []string {
	var printed []string
	if fleet, generation, published := state.Published(); published {
		printed = append(printed, fmt.Sprintf("published %d %s", generation, printFleet(fleet)))
	}
	if keys := printKeys(state.Unpublished()); keys != "" {
		printed = append(printed, "unpublished "+keys)
	}
	return printed
}

func printKeys(keys iter.Seq[core.PodKey]) string {
	texts := lo.Map(slices.Collect(keys), func(key core.PodKey, _ int) string { return key.String() })
	return strings.Join(texts, " ")
}

// everything prints all that a state says of itself, for comparing it with what it said before.
func everything(state core.State) string {
	var all strings.Builder
	fmt.Fprintln(&all, printState(state, nil))
	for st := range state.Standings() {
		fmt.Fprintf(&all, "%+v %+v\n", *st.Pod, st)
	}
	for st := range state.Unsettled() {
		fmt.Fprintf(&all, "unsettled %s\n", st.Pod.Key)
	}
	fleet, _, _ := state.Published()
	fmt.Fprintf(&all, "%+v\n%+v\n", state.Admitted().Endpoints(), fleet.Endpoints())
	fmt.Fprintf(&all, "%+v\n%+v\n", state.Probes(), state.Config())
	return all.String()
}
