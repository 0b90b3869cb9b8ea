package timeline

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
}

// FollowSources adds what the adapters around the component know of where its inputs come from.
// sources is called whenever somebody looks, and must not block.
func (t *Timeline) FollowSources(sources func() []Source) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sources = sources
}
