package core

// publishIfDue ends a step (R17): it publishes, or sees to it that a timer will.
func (s *step) publishIfDue() {
	if !s.gateOpen {
		return
	}
	if s.publicationDue() {
		s.publish()
	}
	s.keepPublishTimers()
}

// publicationDue decides: at once for what consumers must not miss, after full passes, else as soon
// as no first attempt is pending, so that a cold start of n pods publishes a few times only. New
// credentials come with a full pass.
func (s *step) publicationDue() bool {
	switch {
	case len(s.removed) > 0, len(s.updated) > 0, s.due:
		return true
	case s.fullPass && s.published != nil:
		return true
	default:
		news := s.published == nil || s.unpublished.Len() > 0
		return news && !s.FirstAttemptsPending()
	}
}

func (s *step) credentialsChanged() bool {
	return s.published != nil && s.published.fleet.credentials != s.credentials
}

// publish tells the fleet as it is now, as the next generation (R18). It copies nothing but the
// keys of what has changed.
func (s *step) publish() {
	event := HAProxyPodsDiscovered{
		Fleet:              Fleet{members: s.admitted, credentials: s.credentials},
		Generation:         1,
		Trigger:            s.trigger,
		Added:              podKeys(s.unpublished),
		Updated:            s.updated,
		Removed:            s.removed,
		CredentialsChanged: s.credentialsChanged(),
	}
	if s.published != nil {
		event.Generation = s.published.generation + 1
	}
	s.published = &publication{fleet: event.Fleet, generation: event.Generation}
	s.unpublished = podMap[PodKey]{}
	s.discovered = append(s.discovered, Publish{event})
}

func (s *step) becameLeader() {
	s.trigger = TriggerBecameLeader
	s.replay()
}

// replay tells the last publication again, to the consumers of a new leader (R19).
func (s *step) replay() {
	if s.published != nil {
		s.discovered = append(s.discovered, Publish{HAProxyPodsDiscovered{
			Fleet:      s.published.fleet,
			Generation: s.published.generation,
			Trigger:    s.trigger,
			Replay:     true,
		}})
	}
}

// keepPublishTimers has one timer armed exactly while admissions are unpublished, and one from the
// opening of the gate to the first publication.
func (s *step) keepPublishTimers() {
	s.keepTimer(&s.publishTimer, s.unpublished.Len() > 0, s.config.PublishDelay)
	s.keepTimer(&s.firstPublishTimer, s.published == nil, s.config.FirstPublishDelay)
}
