package output

import (
	"fmt"
	"strings"

	"github.com/samber/lo"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/core/projection"
)

// PodStep is what a step means to one pod, of which alone its input and effects then tell.
type PodStep struct {
	Key     core.PodKey
	Was, Is PodFacts
	// VerdictWas and Verdict are zero where the pod is not known.
	VerdictWas, Verdict projection.Pod
	// Queued tells that the pod has come to wait for a place among the outstanding probes.
	Queued bool
	// OtherPods counts the other pods that the input names, OtherEffects the effects left out.
	OtherPods    int
	OtherEffects int
}

type podStepJSON struct {
	Pod           *record `json:"pod"`
	VerdictBefore *record `json:"verdict_before"`
	Verdict       *record `json:"verdict"`
	Queued        bool    `json:"queued"`
	OtherEffects  int     `json:"other_effects"`
}

// json has everything that is known after the step, changed or not.
func (s *PodStep) json() *podStepJSON {
	if s == nil {
		return nil
	}
	j := &podStepJSON{
		VerdictBefore: verdictRecord(s.VerdictWas), Verdict: verdictRecord(s.Verdict),
		Queued: s.Queued, OtherEffects: s.OtherEffects,
	}
	if s.Is.pod != nil {
		j.Pod = &record{"pod", s.Key.String(), s.Is.fields()}
	}
	return j
}

func verdictRecord(r projection.Pod) *record {
	if r.Status == "" {
		return nil
	}
	return &record{"verdict", string(r.Status), []field{
		{"reason", r.Reason}, {"cause", r.Cause}, {"detail", r.Detail},
	}}
}

// changes gives a line for each thing that has changed.
func (s *PodStep) changes() []string {
	var lines []string
	if changed := s.Is.changedFrom(s.Was); len(changed) > 0 {
		lines = append(lines, record{kind: "pod", fields: changed}.String())
	}
	was, is := VerdictText(s.VerdictWas, "unknown"), VerdictText(s.Verdict, "gone")
	if was != is && (s.VerdictWas.Status != "" || s.Verdict.Status != "") {
		lines = append(lines, printable(fmt.Sprintf("verdict %s -> %s", was, is)))
	}
	if s.Queued {
		lines = append(lines, "queued until a probe finishes")
	}
	return lines
}

// VerdictText says in a few words what a pod is, and why.
func VerdictText(r projection.Pod, notKnown string) string {
	if r.Status == "" {
		return notKnown
	}
	why := lo.Compact([]string{string(r.Reason), string(r.Cause)})
	if len(why) == 0 {
		return string(r.Status)
	}
	return fmt.Sprintf("%s (%s)", r.Status, strings.Join(why, ", "))
}
