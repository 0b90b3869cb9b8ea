package invariant

import (
	"hash/maphash"
	"iter"
	"maps"
	"slices"
	"strconv"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// Fingerprint is all that a State says to its public questions, as a text of one line for each
// thing. States that say the same have the same fingerprint, in one process and as long as one of
// them lives: credentials appear as a username and a number that tells them apart and means nothing
// anywhere else.
func Fingerprint(state core.State) string { return string(appendFingerprint(nil, state)) }

func appendFingerprint(buffer []byte, state core.State) []byte {
	t := text(buffer)
	t.settings(state)
	for standing := range state.Standings() {
		t.pod(standing.Pod)
		t.standing(standing)
	}
	t.number("\nunsettled", uint64(state.UnsettledLen()))
	if state.UnsettledLen() > 0 {
		for standing := range state.Unsettled() {
			t.key("", standing.Pod.Key)
		}
	}
	published, generation, told := state.Published()
	t.fleet("\nadmitted", state.Admitted())
	t.fleet("\npublished", published)
	t.number(" generation", generation)
	t.flag(" told", told)
	t.keys("\nunpublished", state.UnpublishedLen(), state.Unpublished())
	for p := range state.Outstanding() {
		t.number("\nprobe", uint64(p.Probe))
		t.identity(p.Identity)
		t.credentials(p.Credentials)
		t.flag(" retry", p.Retry)
		t.flag(" cancelled", p.Cancelled)
	}
	t.queues(state)
	return t
}

// text is a fingerprint in the making. What was printed with package fmt would cost a checker most
// of its time.
type text []byte

func (t *text) settings(state core.State) {
	c := state.Config()
	t.string("config container", c.AgentContainer)
	t.string(" scheme", c.AgentScheme)
	for _, number := range [...]int64{
		int64(c.MaxProbes), int64(c.MaxRetries), int64(c.ProbeTimeout), int64(c.MaxProbeTimeout),
		int64(c.RetryDelay), int64(c.MaxRetryDelay), int64(c.PublishDelay), int64(c.FirstPublishDelay),
	} {
		t.number("", uint64(number))
	}
	settings, configured := state.Settings()
	t.flag("\nconfigured", configured)
	t.number(" port", uint64(settings.AgentPort))
	t.string(" selector", settings.PodSelector)
	t.credentials(state.Credentials())
	t.flag("\ngate open", state.GateOpen())
	t.flag(" store set", state.StoreSet())
	t.flag(" synced", state.StoreSynced())
	t.flag(" sync seen", state.SyncSeen())
	t.number(" pods", uint64(state.Len()))
}

func (t *text) pod(pod *core.Pod) {
	t.key("\npod", pod.Key)
	t.string(" uid", pod.UID)
	if len(pod.Labels) > 0 {
		for _, name := range slices.Sorted(maps.Keys(pod.Labels)) {
			t.string(" label", name)
			t.string("", pod.Labels[name])
		}
	}
	*t = append(*t, " ip "...)
	*t = pod.IP.AppendTo(*t)
	t.string(" phase", pod.Phase)
	t.flag(" terminating", pod.Terminating)
	t.string(" agent", string(pod.Agent))
	t.string(" no agent", pod.NoAgent)
	t.string(" runtime", string(pod.RuntimeID))
	t.string(" malformed", pod.Malformed)
	t.number(" unreadable", uint64(pod.Unreadable))
}

func (t *text) standing(standing core.Standing) {
	t.string("\n  verdict", standing.Verdict.Kind.String())
	t.string("", string(standing.Verdict.Reason))
	t.string("", string(standing.Verdict.Cause))
	t.identity(standing.Identity)
	t.flag(" admitted", standing.Admitted)
	t.version(standing.Version)
	t.number(" attempts", uint64(standing.Attempts))
	t.flag(" retry", standing.Retry)
	t.flag(" queued", standing.Queued)
	t.number(" probe", uint64(standing.Probe))
	t.number(" timer", uint64(standing.RetryTimer))
}

func (t *text) fleet(name string, fleet core.Fleet) {
	t.number(name, uint64(fleet.Len()))
	t.credentials(fleet.Credentials())
	if fleet.Len() == 0 {
		return
	}
	for endpoint := range fleet.All() {
		t.identity(endpoint.Identity)
		t.version(endpoint.Version)
	}
}

func (t *text) queues(state core.State) {
	firsts, retries := state.QueueLen()
	t.keys("\nfirst attempts", firsts, state.FirstAttempts())
	t.flag(" pending", state.FirstAttemptsPending())
	t.keys("\nretries", retries, state.Retries())
	t.number("\nretry timers", uint64(state.RetryTimersLen()))
	if state.RetryTimersLen() > 0 {
		for timer, key := range state.RetryTimers() {
			t.number("", uint64(timer))
			t.key("", key)
		}
	}
	t.number("\npublish timer", uint64(state.PublishTimer()))
	t.number(" first", uint64(state.FirstPublishTimer()))
	*t = append(*t, '\n')
}

// keys writes a list, whose length the state tells on its own.
func (t *text) keys(name string, length int, keys iter.Seq[core.PodKey]) {
	t.number(name, uint64(length))
	if length == 0 {
		return
	}
	for key := range keys {
		t.key("", key)
	}
}

func (t *text) identity(identity core.Identity) {
	t.key(" of", identity.Key())
	t.string("", identity.UID)
	t.string("", string(identity.RuntimeID))
	t.string("", identity.URL)
}

func (t *text) version(version core.Version) {
	t.string(" version", version.Text)
	t.number("", uint64(version.Major))
	t.number("", uint64(version.Minor))
}

func (t *text) key(name string, key core.PodKey) {
	t.string(name, key.Namespace)
	t.string("", key.Name)
}

// string is written with its length, so that no two lists of texts look the same.
func (t *text) string(name, value string) {
	t.number(name, uint64(len(value)))
	*t = append(*t, ':')
	*t = append(*t, value...)
}

func (t *text) number(name string, value uint64) {
	*t = append(*t, name...)
	*t = append(*t, ' ')
	*t = strconv.AppendUint(*t, value, 10)
}

func (t *text) flag(name string, value bool) {
	*t = append(*t, name...)
	if value {
		*t = append(*t, " yes"...)
	} else {
		*t = append(*t, " no"...)
	}
}

// credentialsSeed differs from process to process.
var credentialsSeed = maphash.MakeSeed()

// credentials are told apart by a number that is made from the place where the process keeps the
// password, not from the password.
func (t *text) credentials(credentials core.Credentials) {
	if credentials.IsZero() {
		*t = append(*t, " no credentials"...)
		return
	}
	t.string(" credentials", credentials.Username())
	t.number("#", maphash.Comparable(credentialsSeed, credentials))
}
