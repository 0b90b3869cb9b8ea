package invariant

import "github.com/haproxy-discovery/haproxy-discovery/core"

// checkGate: it opens with the last of the four, and nothing else happens before (I6).
func (t *transition) checkGate() {
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
