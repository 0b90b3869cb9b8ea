package core

import "github.com/samber/lo"

// Discovery is the pure question "which pods are worth probing", asked of a list of pods without
// any history. Reduce answers it step by step and remembers who has been admitted.
type Discovery struct {
	// Config counts only by AgentScheme here; the zero value is the default.
	Config Config
	// AgentPort and PodSelector are those of ConfigValidated.
	AgentPort   int
	PodSelector string
}

// Candidate is a pod worth probing: whom to ask, and with which credentials.
type Candidate struct {
	Identity
	Credentials Credentials
}

// Candidates lists the candidates among the pods in the order of their keys. The error says which
// of the settings is invalid. Of pods with the same key, the last one counts; nil ones are skipped.
func (d Discovery) Candidates(pods []*Pod, credentials Credentials) ([]Candidate, error) {
	if err := d.Config.Validate(); err != nil {
		return nil, err
	}
	settings, err := parseSettings(ConfigValidated{d.AgentPort, d.PodSelector})
	if err != nil {
		return nil, err
	}
	known := lo.Filter(pods, func(pod *Pod, _ int) bool { return isPod(pod) })
	known = lastOfEachKey(known, func(pod *Pod) PodKey { return pod.Key })
	scheme := d.Config.withDefaults().AgentScheme
	return lo.FilterMap(known, func(pod *Pod, _ int) (Candidate, bool) {
		isCandidate := settings.judge(pod).Kind == IsCandidate
		if !isCandidate {
			return Candidate{}, false
		}
		return Candidate{identityOf(pod, scheme, d.AgentPort), credentials}, true
	}), nil
}
