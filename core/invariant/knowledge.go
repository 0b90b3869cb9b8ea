package invariant

import (
	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// knowledge is what the inputs have told so far of what the gate waits for.
type knowledge struct {
	// config are the numbers of the rules; they never change.
	config     core.Config
	settings   core.ConfigValidated
	configured bool
	// judge gives verdicts under the settings; epoch counts the settings so far.
	judge       core.Judge
	epoch       int
	credentials core.Credentials
	storeSet    bool
	synced      bool
	syncSeen    bool
	gateOpen    bool
}

// believe takes what a state says. It keeps the judge of the same settings.
func (k *knowledge) believe(state core.State) {
	settings, configured := state.Settings()
	judge := k.judge
	if !configured || settings != k.settings || state.Config() != k.config {
		judge, _ = judgeOf(state.Config(), settings)
	}
	*k = knowledge{
		config: state.Config(), settings: settings, configured: configured, judge: judge,
		credentials: state.Credentials(), storeSet: state.StoreSet(), synced: state.StoreSynced(),
		syncSeen: state.SyncSeen(), gateOpen: state.GateOpen(),
	}
}

func judgeOf(config core.Config, settings core.ConfigValidated) (core.Judge, error) {
	return core.Discovery{
		Config: config, AgentPort: settings.AgentPort, PodSelector: settings.PodSelector,
	}.Judge()
}

// configure takes settings, unless they are invalid.
func (k *knowledge) configure(settings core.ConfigValidated) bool {
	judge, err := judgeOf(k.config, settings)
	if err != nil {
		return false
	}
	k.settings, k.configured, k.judge = settings, true, judge
	k.epoch++
	return true
}

// take notes an input. It tells whether the input is of the kinds that make a full pass (R7), which
// those that are refused are not, and whether it resets the retry back-off.
func (k *knowledge) take(input core.Input) (pass, resetsBackoff bool) {
	switch in := input.(type) {
	case core.ConfigValidated:
		valid := k.configure(in)
		return valid, valid
	case core.CredentialsUpdated:
		if in.Credentials.IsZero() {
			return false, false
		}
		k.credentials = in.Credentials
		return true, true
	case core.PodStoreSet:
		k.synced = in.Synced == core.SyncDone ||
			in.Synced == core.SyncUnknown && !k.storeSet && k.syncSeen
		k.storeSet = true
		return true, true
	case core.ResourceSyncComplete:
		if in.Resource != core.HAProxyPods {
			return false, false
		}
		k.syncSeen = true
		k.synced = k.storeSet
		return true, false
	case core.DriftPreventionTriggered:
		return true, false
	default:
		return false, false
	}
}

// takeInput brings the books up to date with what the input says.
func (t *transition) takeInput() {
	pass, resets := t.known.take(t.input)
	known := &t.known
	if known.configured && !known.credentials.IsZero() && known.synced {
		known.gateOpen = true
	}
	t.fullPass = pass && known.gateOpen
	if t.fullPass && resets {
		t.backoffResets++
	}
	switch in := t.input.(type) {
	case core.ProbeFinished:
		t.finishProbe(in)
	case core.TimerFired:
		t.firedKey, t.fired = t.timers[in.Timer]
		delete(t.timers, in.Timer)
	case core.DriftPreventionTriggered:
		if t.fullPass && !t.whole {
			t.whole, t.partial = true, t.last.serves(known.epoch)
		}
	}
}
