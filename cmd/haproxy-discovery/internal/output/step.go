package output

import (
	"fmt"
	"time"

	"github.com/samber/lo"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// Step is a step of a replay: an input and the effects that it had.
type Step struct {
	Seq     uint64
	Time    time.Time
	Input   core.Input
	Effects []core.Effect
	// Before and After are the states that the step has led from and to.
	Before, After core.State
	// Full has a publication list all its endpoints, not only those added or updated.
	Full bool
	// Pod is set where only one pod is asked about.
	Pod *PodStep
}

type stepJSON struct {
	Seq     uint64 `json:"seq"`
	Time    string `json:"time"`
	Input   record `json:"input"`
	Effects []any  `json:"effects"`
	// Verdicts is null where only one pod is asked about.
	Verdicts []verdictChange `json:"verdicts,omitempty"`
	*podStepJSON
}

// Step prints a step. Flush writes out what is buffered.
func (p *Printer) Step(step Step) error {
	input := inputRecord(step.Input, step.Before)
	if step.Pod != nil && step.Pod.OtherPods > 0 {
		input.fields = append(input.fields, field{"other_pods", step.Pod.OtherPods})
	}
	if p.format == JSON {
		var verdicts []verdictChange
		if step.Pod == nil {
			verdicts = step.verdictChanges()
		}
		return p.lines.Encode(stepJSON{
			Verdicts: verdicts,
			Seq:      step.Seq, Time: step.Time.UTC().Format(time.RFC3339Nano), Input: input,
			Effects: lo.Map(step.Effects, func(effect core.Effect, _ int) any {
				if publish, is := effect.(core.Publish); is {
					return eventJSON(step.Time, publish.Event, step.Full)
				}
				return effectRecord(effect, step.Before, step.After)
			}),
			podStepJSON: step.Pod.json(),
		})
	}
	return p.stepText(step, input)
}

func (p *Printer) stepText(step Step, input record) error {
	_, err := fmt.Fprintf(p.buffer, "%6d  %s  %s\n",
		step.Seq, step.Time.UTC().Format("2006-01-02T15:04:05.000Z"), input)
	var about *core.PodKey
	if step.Pod != nil {
		about = &step.Pod.Key
		for _, line := range step.Pod.changes() {
			_, err = fmt.Fprintf(p.buffer, "        %s\n", line)
		}
	} else {
		for _, line := range verdictLines(step.verdictChanges()) {
			_, err = fmt.Fprintf(p.buffer, "        %s\n", line)
		}
	}
	for _, effect := range step.Effects {
		line := ""
		if publish, is := effect.(core.Publish); is {
			line = printable(describe(publish.Event, about))
		} else {
			line = effectRecord(effect, step.Before, step.After).String()
		}
		_, err = fmt.Fprintf(p.buffer, "        -> %s\n", line)
	}
	if step.Pod != nil && step.Pod.OtherEffects > 0 {
		_, err = fmt.Fprintf(p.buffer, "        (other effects: %d)\n", step.Pod.OtherEffects)
	}
	return err
}

// Flush writes out what is buffered.
func (p *Printer) Flush() error { return p.buffer.Flush() }

// inputRecord tells of lists of pods how many they hold, of changes which pods, and of probes and
// timers what they were for.
func inputRecord(input core.Input, before core.State) record {
	r := record{label: "kind", kind: "unknown"}
	switch in := input.(type) {
	case core.ConfigValidated:
		r.kind = string(core.TriggerConfigValidated)
		r.fields = []field{{"agent_port", in.AgentPort}, {"pod_selector", in.PodSelector}}
	case core.CredentialsUpdated:
		r.kind = string(core.TriggerCredentialsUpdated)
		r.fields = []field{{"username", in.Credentials.Username()}}
	case core.PodStoreSet:
		r.kind = string(core.TriggerPodStoreSet)
		synced := [...]string{"cannot_say", "yes", "no"}[in.Synced%3]
		r.fields = []field{{"pods", len(in.Pods)}, {"synced", synced}}
	case core.ResourceIndexUpdated:
		r.kind = string(core.TriggerResourceIndexUpdated)
		r.fields = []field{{"upserted", lo.Map(in.Upserted, podText)}, {"deleted", lo.Map(in.Deleted, refText)}}
	case core.ResourceSyncComplete:
		r.kind = string(core.TriggerResourceSyncComplete)
		r.fields = []field{{"pods", len(in.Pods)}}
	case core.BecameLeader:
		r.kind = string(core.TriggerBecameLeader)
	case core.DriftPreventionTriggered:
		r.kind = string(core.TriggerDriftPreventionTriggered)
		r.fields = []field{{"pods", len(in.Pods)}}
	case core.ProbeFinished:
		r.kind = string(core.TriggerProbeFinished)
		r.fields = append([]field{{"probe", in.Probe}}, probeFields(before, in.Probe)...)
		r.fields = append(r.fields, outcomeFields(in.Outcome)...)
	case core.TimerFired:
		r.kind = string(core.TriggerTimerFired)
		r.fields = append([]field{{"timer", in.Timer}}, timerFields(before, in.Timer)...)
	}
	return r
}

func outcomeFields(outcome core.Outcome) []field {
	switch o := outcome.(type) {
	case core.Answer:
		return []field{{"outcome", "answer"}, {"version", o.HAProxy().Text}}
	case core.Failure:
		return []field{{"outcome", "failure"}, {"cause", o.Cause}, {"detail", o.Detail}}
	default:
		return nil
	}
}

func podText(pod *core.Pod, _ int) string {
	if pod == nil {
		return "none"
	}
	return refText(core.PodRef{Key: pod.Key, UID: pod.UID}, 0)
}

func refText(ref core.PodRef, _ int) string { return ref.Key.String() + "@" + ref.UID }

// effectRecord asks the state before the step what it ends, the one after it what it begins.
func effectRecord(effect core.Effect, before, after core.State) record {
	r := record{label: "effect", kind: "unknown"}
	switch e := effect.(type) {
	case core.StartProbe:
		r.kind = "start_probe"
		r.fields = []field{
			{"probe", e.Probe}, {"pod", e.Identity.Key().String()}, {"uid", e.Identity.UID},
			{"runtime_id", e.Identity.RuntimeID}, {"url", e.Identity.URL}, {"timeout", e.Timeout},
		}
		for _, f := range probeFields(after, e.Probe) {
			if f.name == "purpose" {
				r.fields = append(r.fields, f)
			}
		}
	case core.CancelProbe:
		r.kind = "cancel_probe"
		r.fields = []field{{"probe", e.Probe}}
		if probe, found := before.Probe(e.Probe); found {
			r.fields = append(r.fields, field{"pod", probe.Identity.Key().String()})
		}
	case core.StartTimer:
		r.kind = "start_timer"
		r.fields = append([]field{{"timer", e.Timer}, {"after", e.After}}, timerFields(after, e.Timer)...)
	case core.StopTimer:
		r.kind = "stop_timer"
		r.fields = append([]field{{"timer", e.Timer}}, timerFields(before, e.Timer)...)
	case core.Refuse:
		r.kind = "refuse"
		r.fields = []field{{"reason", e.Reason}}
	}
	return r
}
