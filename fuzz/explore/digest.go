package explore

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// digest stands for all states that have the same future.
type digest [16]byte

// digester computes digests: a hash of everything that a state says, except numbers that only tell
// how much has happened before. A probe or a timer is told by what it is for, a queue by its order;
// generations are left out, and attempts, of which only "first attempt or retry" decides anything.
// That nothing else depends on what is left out is tested, see TestMergedStatesBehaveAlike.
//
// It is not safe for concurrent use: it keeps its buffers.
type digester struct {
	sections []section
	text     []byte
	// keys and names are sorted here.
	keys  []core.PodKey
	names []string
}

// section appends one part of what a state says.
type section func(d *digester, state core.State)

var sections = []section{
	(*digester).gate,
	(*digester).standings,
	(*digester).fleets,
	(*digester).probes,
	(*digester).queues,
	(*digester).timers,
}

func newDigester() *digester {
	return &digester{sections: sections}
}

func (d *digester) sum(state core.State) digest {
	d.text = d.text[:0]
	for i, section := range d.sections {
		d.text = append(d.text, 0xf0|byte(i))
		section(d, state)
	}
	whole := sha256.Sum256(d.text)
	return digest(whole[:len(digest{})])
}

func (d *digester) gate(state core.State) {
	settings, configured := state.Settings()
	d.flags(configured, state.GateOpen(), state.StoreSet(), state.StoreSynced(), state.SyncSeen())
	d.text = binary.AppendUvarint(d.text, uint64(settings.AgentPort))
	d.string(settings.PodSelector)
	d.credential(state.Credentials())
}

func (d *digester) standings(state core.State) {
	d.text = append(d.text, byte(state.Len()))
	for standing := range state.Standings() {
		d.facts(standing.Pod)
		d.text = append(d.text, byte(standing.Verdict.Kind))
		d.string(string(standing.Verdict.Reason))
		d.string(string(standing.Verdict.Cause))
		if standing.Verdict.Kind != core.IsCandidate {
			continue
		}
		d.identity(standing.Identity)
		d.flags(standing.Admitted, standing.Retry,
			standing.Queued, standing.Probe != 0, standing.RetryTimer != 0)
		d.string(standing.Version.Text)
	}
	for standing := range state.Unsettled() {
		d.key(standing.Pod.Key)
	}
}

func (d *digester) fleets(state core.State) {
	d.fleet(state.Admitted())
	fleet, _, published := state.Published()
	d.flags(published)
	d.fleet(fleet)
	for key := range state.Unpublished() {
		d.key(key)
	}
}

// probes tells them as a set: their order is that of their numbers and decides nothing.
func (d *digester) probes(state core.State) {
	probes := state.Probes()
	if len(probes) > 1 {
		slices.SortFunc(probes, compareProbes)
	}
	d.text = append(d.text, byte(len(probes)))
	for _, probe := range probes {
		d.identity(probe.Identity)
		d.credential(probe.Credentials)
		d.flags(probe.Retry, probe.Cancelled)
	}
}

func (d *digester) queues(state core.State) {
	firsts, retries := state.QueueLen()
	d.text = append(d.text, byte(firsts), byte(retries))
	if firsts > 0 {
		for key := range state.FirstAttempts() {
			d.key(key)
		}
	}
	if retries > 0 {
		for key := range state.Retries() {
			d.key(key)
		}
	}
}

func (d *digester) timers(state core.State) {
	d.flags(state.PublishTimer() != 0, state.FirstPublishTimer() != 0)
	if state.RetryTimersLen() == 0 {
		return
	}
	d.keys = d.keys[:0]
	for _, key := range state.RetryTimers() {
		d.keys = append(d.keys, key)
	}
	slices.SortFunc(d.keys, core.PodKey.Compare)
	for _, key := range d.keys {
		d.key(key)
	}
}

func (d *digester) fleet(fleet core.Fleet) {
	d.credential(fleet.Credentials())
	d.text = append(d.text, byte(fleet.Len()))
	if fleet.Len() == 0 { // Iterating costs more than asking.
		return
	}
	for endpoint := range fleet.All() {
		d.identity(endpoint.Identity)
		d.string(endpoint.Version.Text)
	}
}

func (d *digester) identity(identity core.Identity) {
	d.key(identity.Key())
	d.string(identity.UID)
	d.string(string(identity.RuntimeID))
	d.string(identity.URL)
}

func (d *digester) key(key core.PodKey) {
	d.string(key.Namespace)
	d.string(key.Name)
}

func (d *digester) facts(pod *core.Pod) {
	d.key(pod.Key)
	d.string(pod.UID)
	d.names = d.names[:0]
	for name := range pod.Labels {
		d.names = append(d.names, name)
	}
	slices.Sort(d.names)
	for _, name := range d.names {
		d.string(name)
		d.string(pod.Labels[name])
	}
	d.flags(pod.Terminating, pod.IP.IsValid())
	ip := pod.IP.As16()
	d.text = append(d.text, ip[:]...)
	d.string(pod.Phase)
	d.string(string(pod.Agent))
	d.string(string(pod.RuntimeID))
	d.string(pod.NoAgent)
	d.string(pod.Malformed)
	d.text = append(d.text, byte(pod.Unreadable))
}

// credential tells them by their username, which differs in a world: a digest holds no password.
func (d *digester) credential(credentials core.Credentials) { d.string(credentials.Username()) }

// string is told with its length, so that no two lists of strings read the same.
func (d *digester) string(text string) {
	d.text = binary.AppendUvarint(d.text, uint64(len(text)))
	d.text = append(d.text, text...)
}

// flags marks where it stands, too: no length of a string begins like that.
func (d *digester) flags(flags ...bool) {
	bits := byte(0x80)
	for i, flag := range flags {
		if flag {
			bits |= 1 << i
		}
	}
	d.text = append(d.text, bits, 0xff)
}
