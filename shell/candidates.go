package shell

import (
	"errors"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// Candidates asks the pure question of core.Discovery over a pod store: which of its pods are worth
// a probe, in the order of their keys. What is no pod is left out. The error says that the store
// could not be read or that a setting is invalid.
func Candidates(
	discovery core.Discovery, store PodStore, credentials core.Credentials,
) ([]core.Candidate, error) {
	if err := discovery.Config.Validate(); err != nil {
		return nil, err
	}
	if store == nil {
		return nil, errors.New("no pod store")
	}
	container := core.New(discovery.Config).Config().AgentContainer
	pods, err := newPodReader(container, func(Problem) {}).list(store)
	if err != nil {
		return nil, err
	}
	return discovery.Candidates(pods, credentials)
}
