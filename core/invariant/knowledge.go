package invariant

import (
	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// knowledge is what the inputs have told so far of what the gate waits for.
type knowledge struct {
	config      core.ConfigValidated
	configured  bool
	credentials core.Credentials
	storeSet    bool
	synced      bool
	syncSeen    bool
	gateOpen    bool
	// gateUnclear: the past before the gate is not known, so that the state's word is taken.
	gateUnclear bool
}

func knowledgeOf(initial core.State) knowledge {
	config, configured := initial.Settings()
	return knowledge{
		config: config, configured: configured, credentials: initial.Credentials(),
		storeSet: initial.StoreSynced(), synced: initial.StoreSynced(), gateOpen: initial.GateOpen(),
	}
}

// take notes an input. It tells whether the input is of the kinds that make a full pass (R7), which
// those that are refused are not, and whether it resets the retry back-off.
func (k *knowledge) take(input core.Input) (pass, resetsBackoff bool) {
	switch in := input.(type) {
	case core.ConfigValidated:
		question := core.Discovery{AgentPort: in.AgentPort, PodSelector: in.PodSelector}
		if _, err := question.Candidates(nil, core.Credentials{}); err != nil {
			return false, false
		}
		k.config, k.configured = in, true
		return true, true
	case core.CredentialsUpdated:
		if in.Credentials.IsZero() {
			return false, false
		}
		k.credentials = in.Credentials
		return true, true
	case core.PodStoreSet:
		k.storeSet = true
		k.synced = in.Synced == core.SyncDone || in.Synced == core.SyncUnknown && k.syncSeen
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
	if known.gateUnclear {
		known.gateOpen = t.after.GateOpen()
	} else if known.configured && !known.credentials.IsZero() && known.synced {
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
		t.firedKey = t.timers[in.Timer]
		delete(t.timers, in.Timer)
	}
}

// checkKnowledge: the state has taken the newest settings in (I3), and its gate opens with the last
// of the four (I6).
func (t *transition) checkKnowledge() {
	if config := t.after.Config(); config != t.config {
		t.violate("I3", "the numbers of the rules are %+v instead of %+v", config, t.config)
	}
	config, configured := t.after.Settings()
	if configured != t.known.configured || config != t.known.config {
		t.violate("I3", "config %+v is not the newest one, %+v", config, t.known.config)
	}
	if t.after.Credentials() != t.known.credentials {
		t.violate("I3", "the state's credentials are not the newest ones")
	}
	if t.after.GateOpen() != t.known.gateOpen {
		t.violate("I6", "gate open: %t instead of %t", t.after.GateOpen(), t.known.gateOpen)
	}
	if t.known.gateOpen {
		return
	}
	for _, effect := range t.effects {
		if _, isRefuse := effect.(core.Refuse); !isRefuse {
			t.violate("I6", "%T before the gate opens", effect)
		}
	}
}
