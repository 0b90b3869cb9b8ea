package output

import (
	"fmt"
	"iter"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/core/projection"
)

type stateJSON struct {
	State        string   `json:"state"`
	GateOpen     bool     `json:"gate_open"`
	StoreSynced  bool     `json:"store_synced"`
	AgentPort    int      `json:"agent_port"`
	PodSelector  string   `json:"pod_selector"`
	Username     string   `json:"username"`
	Generation   uint64   `json:"generation"`
	Published    int      `json:"published"`
	Unpublished  []string `json:"unpublished"`
	Pods         []record `json:"pods"`
	Probes       []record `json:"probes"`
	FirstQueue   []string `json:"first_attempts_queued"`
	RetryQueue   []string `json:"retries_queued"`
	PublishTimer uint64   `json:"publish_timer"`
	FirstTimer   uint64   `json:"first_publish_timer"`
}

// State prints everything that a state says; title names the moment. Of pods it tells of only one,
// if that is asked about, and of that one the facts, too.
func (p *Printer) State(title string, state core.State, about *core.PodKey) error {
	settings, _ := state.Settings()
	fleet, generation, _ := state.Published()
	s := stateJSON{
		State:       title,
		GateOpen:    state.GateOpen(),
		StoreSynced: state.StoreSynced(),
		AgentPort:   settings.AgentPort, PodSelector: settings.PodSelector,
		Username:   state.Credentials().Username(),
		Generation: generation, Published: fleet.Len(),
		Unpublished:  keysAbout(about, state.Unpublished()),
		Pods:         []record{},
		Probes:       []record{},
		FirstQueue:   keysAbout(about, state.FirstAttempts()),
		RetryQueue:   keysAbout(about, state.Retries()),
		PublishTimer: uint64(state.PublishTimer()), FirstTimer: uint64(state.FirstPublishTimer()),
	}
	if about == nil {
		for standing := range state.Standings() {
			s.Pods = append(s.Pods, standingRecord(standing))
		}
	} else if standing, found := state.Standing(*about); found {
		s.Pods = append(s.Pods, standingRecord(standing).with(FactsOf(state, *about).fields()))
	}
	for _, probe := range state.Probes() {
		if about != nil && probe.Identity.Key() != *about {
			continue
		}
		s.Probes = append(s.Probes, record{"pod", probe.Identity.Key().String(), []field{
			{"probe", probe.Probe}, {"uid", probe.Identity.UID}, {"url", probe.Identity.URL},
			{"retry", probe.Retry}, {"cancelled", probe.Cancelled},
		}})
	}
	if p.format == JSON {
		return p.lines.Encode(s)
	}
	return p.stateText(s)
}

func (p *Printer) stateText(s stateJSON) error {
	head := record{"", "STATE", []field{
		{"at", s.State}, {"gate_open", s.GateOpen}, {"store_synced", s.StoreSynced},
		{"agent_port", s.AgentPort}, {"pod_selector", s.PodSelector}, {"username", s.Username},
		{"generation", s.Generation}, {"published", s.Published}, {"unpublished", s.Unpublished},
		{"first_attempts_queued", s.FirstQueue}, {"retries_queued", s.RetryQueue},
		{"publish_timer", s.PublishTimer}, {"first_publish_timer", s.FirstTimer},
	}}
	_, err := fmt.Fprintln(p.buffer, head)
	for _, list := range []struct {
		name    string
		records []record
	}{{"pod", s.Pods}, {"probe of", s.Probes}} {
		for _, r := range list.records {
			_, err = fmt.Fprintf(p.buffer, "  %s %s\n", list.name, r)
		}
	}
	return err
}

func keysAbout(about *core.PodKey, keys iter.Seq[core.PodKey]) []string {
	texts := []string{}
	for key := range keys {
		if about == nil || key == *about {
			texts = append(texts, key.String())
		}
	}
	return texts
}

func standingRecord(s core.Standing) record {
	status, reason := projection.StatusOf(s)
	r := record{"pod", s.Pod.Key.String(), []field{
		{"uid", s.Pod.UID}, {"verdict", string(status)},
		{"reason", reason}, {"cause", s.Verdict.Cause}, {"malformed", s.Pod.Malformed},
	}}
	if s.Verdict.Kind == core.IsCandidate {
		r.fields = append(r.fields,
			field{"url", s.Identity.URL}, field{"runtime_id", s.Identity.RuntimeID},
			field{"admitted", s.Admitted}, field{"version", s.Version.Text},
			field{"attempts", s.Attempts}, field{"queued", s.Queued},
			field{"probe", s.Probe}, field{"retry_timer", s.RetryTimer})
	}
	return r
}
