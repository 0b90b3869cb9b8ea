package metrics

import (
	"slices"

	"github.com/samber/lo"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell"
)

// The values that labels take. A cause that is none of these can only come from a Prober that is
// not effects' own; it counts as other.

// The results of a probe beside the causes of failure.
const (
	resultAnswered  = "answered"
	resultCancelled = "cancelled"
)

var (
	failureCauses = []core.Cause{
		core.CauseRefused, core.CauseTimeout, core.CauseTLS, core.CauseUnauthorized,
		core.CauseUnexpectedStatus, core.CauseTooLarge, core.CauseTruncated,
		core.CauseInvalidDocument, core.CauseUnsupportedAPIVersion, core.CauseOther,
	}
	probeResults = append([]string{resultAnswered, resultCancelled}, texts(failureCauses)...)

	rejectionCauses = map[core.Reason][]core.Cause{
		core.ReasonAgentContainerNotRunning: {core.CauseWaiting, core.CauseTerminated, core.CauseMissing},
		core.ReasonMalformedPod:             {core.CauseMalformed},
		core.ReasonAgentUnreachable:         failureCauses,
	}
	reasons = texts(lo.Keys(rejectionCauses))

	terminationCauses = texts([]core.Cause{
		core.CauseDeleted, core.CauseReplaced, core.CauseTerminating, core.CauseNotRunning,
		core.CauseDeselected, core.CauseNoIP, core.CauseMalformed, core.CauseAgentNotRunning,
		core.CausePortChanged, core.CauseAddressChanged, core.CauseContainerRestarted,
	})

	passTriggers = texts([]core.Trigger{
		core.TriggerConfigValidated, core.TriggerCredentialsUpdated, core.TriggerPodStoreSet,
		core.TriggerResourceSyncComplete, core.TriggerDriftPreventionTriggered,
	})
	publicationTriggers = append(texts([]core.Trigger{
		core.TriggerResourceIndexUpdated, core.TriggerBecameLeader, core.TriggerProbeFinished,
		core.TriggerTimerFired,
	}), passTriggers...)

	// problemKinds are those of the component itself; adapters report more.
	problemKinds = texts([]shell.ProblemKind{
		shell.NotAPod, shell.InputRefused, shell.UnknownEvent, shell.UnknownResource,
		shell.ShutdownSlow, shell.ProberPanicked, shell.SubscriberDropped,
	})
)

func texts[T ~string](values []T) []string {
	return lo.Map(values, func(value T, _ int) string { return string(value) })
}

func resultOf(outcome core.Outcome) string {
	switch o := outcome.(type) {
	case core.Answer:
		return resultAnswered
	case core.Failure:
		return string(knownCause(core.ReasonAgentUnreachable, o.Cause))
	default:
		return string(core.CauseOther)
	}
}

func knownCause(reason core.Reason, cause core.Cause) core.Cause {
	if slices.Contains(rejectionCauses[reason], cause) {
		return cause
	}
	return core.CauseOther
}
