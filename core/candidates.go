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
	judge, err := d.Judge()
	if err != nil {
		return nil, err
	}
	known := lo.Filter(pods, func(pod *Pod, _ int) bool { return isPod(pod) })
	known = lastOfEachKey(known, func(pod *Pod) PodKey { return pod.Key })
	return lo.FilterMap(known, func(pod *Pod, _ int) (Candidate, bool) {
		verdict, identity := judge.Verdict(pod)
		return Candidate{identity, credentials}, verdict.Kind == IsCandidate
	}), nil
}

// Judge is a Discovery whose settings were found valid. It answers for one pod at a time.
type Judge struct {
	settings *settings
	scheme   string
}

// Judge prepares the question. The error says which of the settings is invalid.
func (d Discovery) Judge() (Judge, error) {
	if err := d.Config.Validate(); err != nil {
		return Judge{}, err
	}
	parsed, err := parseSettings(ConfigValidated{d.AgentPort, d.PodSelector})
	if err != nil {
		return Judge{}, err
	}
	return Judge{parsed, d.Config.withDefaults().AgentScheme}, nil
}

// Verdict judges a pod by its facts. The identity is a candidate's, zero for all others. The zero
// Judge leaves every pod undecided.
func (j Judge) Verdict(pod *Pod) (Verdict, Identity) {
	if j.settings == nil {
		return Verdict{}, Identity{}
	}
	verdict := j.settings.judge(pod)
	if verdict.Kind != IsCandidate {
		return verdict, Identity{}
	}
	return verdict, identityOf(pod, j.scheme, j.settings.validated.AgentPort)
}
