package core

import (
	"fmt"

	"k8s.io/apimachinery/pkg/labels"
)

// The gate (R6): before config, credentials, a pod store and its initial sync are all known,
// facts are taken in and nothing else happens. Once open, it stays open.

// parseSettings checks a configuration.
func parseSettings(in ConfigValidated) (*settings, error) {
	if in.AgentPort < 1 || in.AgentPort > 65535 {
		return nil, fmt.Errorf("agent port %d is not between 1 and 65535", in.AgentPort)
	}
	selector, err := labels.Parse(in.PodSelector)
	if err != nil {
		return nil, fmt.Errorf("pod selector: %w", err)
	}
	return &settings{validated: in, selector: selector}, nil
}

func (s *step) configValidated(in ConfigValidated) {
	s.trigger = TriggerConfigValidated
	settings, err := parseSettings(in)
	if err != nil {
		s.refuse("config_validated: %v", err)
		return
	}
	changed := s.settings == nil || s.settings.validated != in
	s.settings = settings
	if changed {
		s.judgeAll()
	}
	s.passWithFreshBackoff()
}

// credentialsUpdated touches no admitted pod: the authority of an endpoint is the same under new
// credentials (R16), and the fleet holds them once for all.
func (s *step) credentialsUpdated(in CredentialsUpdated) {
	s.trigger = TriggerCredentialsUpdated
	if in.Credentials.IsZero() {
		s.refuse("credentials_updated: no credentials")
		return
	}
	s.credentials = in.Credentials
	s.passWithFreshBackoff()
}

// podStoreSet takes a store that cannot say whether it has synced for synced if it is the first one
// and a sync was told before it. A later one is a new informer's bare lister, say, whose emptiness
// must not retire the fleet: it waits for its own sync (R6).
func (s *step) podStoreSet(in PodStoreSet) {
	s.trigger = TriggerPodStoreSet
	first := !s.store.set
	s.store.set = true
	s.store.synced = in.Synced == SyncDone || in.Synced == SyncUnknown && first && s.store.syncSeen
	s.takeList(in.Pods, s.store.synced)
	s.passWithFreshBackoff()
}

func (s *step) resourceSyncComplete(in ResourceSyncComplete) {
	s.trigger = TriggerResourceSyncComplete
	if !s.ours(in.Resource) {
		return
	}
	s.store.syncSeen = true
	s.store.synced = s.store.set
	s.takeList(in.Pods, true)
	s.pass()
}

// openGate opens it once all four are known, and tells whether it is open.
func (s *step) openGate() bool {
	if !s.gateOpen && s.settings != nil && !s.credentials.IsZero() && s.store.set && s.store.synced {
		s.gateOpen = true
		s.judgeAll()
	}
	return s.gateOpen
}
