package timeline

import "time"

// SourceKind says what comes from a source; usable as a metric's label.
type SourceKind string

// The kinds of sources.
const (
	PodSource        SourceKind = "pods"
	CredentialSource SourceKind = "credentials"
	LeadershipSource SourceKind = "leadership"
	AgentTLSSource   SourceKind = "agent_tls"
)

// Source is where some of the component's inputs come from, as it is at a moment.
type Source struct {
	Kind SourceKind
	// Name says which one, for people: Secret lb/haproxy-credentials.
	Name string
	// State is what it does, in a few words: connected, leading.
	State string
	// Error says in one line, without any secret, what is wrong: no contact, or nothing valid in it.
	// Empty if nothing is. What the source has told before stays in use meanwhile.
	Error string
	// Audit tells how far what was seen of the source is verified.
	Audit Audit
}

// Audit is how the audits of a source stand, which compare what was seen of it with what it says at
// present (R20a).
type Audit struct {
	// Began is when audits began; zero if none are made.
	Began time.Time
	// Verified is the time of the last view that an audit has confirmed; zero if none has.
	Verified time.Time
	// LostViews counts how often the view was found to be lost, and made anew.
	LostViews uint64
}

// Age is how old the last confirmed view is. While there is none, it counts from the beginning.
// Negative if no audits are made.
func (a Audit) Age(now time.Time) time.Duration {
	switch {
	case a.Began.IsZero():
		return -1
	case a.Verified.IsZero():
		return max(0, now.Sub(a.Began))
	default:
		return max(0, now.Sub(a.Verified))
	}
}

// Audit is that of the source that is audited; zero if none is.
func (m Moment) Audit() Audit {
	for _, source := range m.Sources {
		if !source.Audit.Began.IsZero() {
			return source.Audit
		}
	}
	return Audit{}
}

// FollowSources adds what the adapters around the component know of where its inputs come from.
// sources is called whenever somebody looks, and must not block.
func (t *Timeline) FollowSources(sources func() []Source) {
	t.sources.Store(&sources)
}
