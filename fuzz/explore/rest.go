package explore

import (
	"fmt"
	"slices"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// unrest says what is missing from the state in which everything has to end once nothing new
// happens and every agent answers (I10): the fleet holds exactly the candidates, with their versions
// and the newest credentials, that is what was published, no timer is armed and no probe is
// outstanding. Before the gate opens, nothing is probed, armed or published. Empty if nothing is
// missing.
func unrest(state core.State) string {
	published, _, isPublished := state.Published()
	switch {
	case len(state.Probes()) > 0:
		return fmt.Sprintf("%d probes are outstanding", len(state.Probes()))
	case len(state.Timers()) > 0:
		return fmt.Sprintf("%d timers are armed", len(state.Timers()))
	case !state.GateOpen() && (isPublished || state.Admitted().Len() > 0):
		return "the gate is closed, but there is a fleet"
	case !state.GateOpen():
		return ""
	case !isPublished:
		return "nothing is published"
	}
	for name, fleet := range map[string]core.Fleet{"admitted": state.Admitted(), "published": published} {
		if missing := incomplete(state, fleet); missing != "" {
			return fmt.Sprintf("the %s fleet %s", name, missing)
		}
	}
	return ""
}

func incomplete(state core.State, fleet core.Fleet) string {
	settings, _ := state.Settings()
	question := core.Discovery{
		Config: state.Config(), AgentPort: settings.AgentPort, PodSelector: settings.PodSelector,
	}
	candidates, err := question.Candidates(known(state), state.Credentials())
	if err != nil {
		return err.Error()
	}
	same := slices.EqualFunc(fleet.Endpoints(), candidates,
		func(endpoint core.Endpoint, candidate core.Candidate) bool {
			return endpoint.Identity == candidate.Identity &&
				endpoint.Credentials == candidate.Credentials && endpoint.Version.Known()
		})
	if !same {
		return fmt.Sprintf("is %v, the candidates are %v", fleet.Endpoints(), candidates)
	}
	return ""
}
