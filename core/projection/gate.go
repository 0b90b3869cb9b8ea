package projection

import "github.com/haproxy-discovery/haproxy-discovery/core"

// GateLacks names what the gate still waits for (R6), in the order in which a user would look for
// it; empty once it is open.
func GateLacks(state core.State) []string {
	if state.GateOpen() {
		return nil
	}
	var names []string
	if _, known := state.Settings(); !known {
		names = append(names, "config")
	}
	if state.Credentials().IsZero() {
		names = append(names, "credentials")
	}
	if !state.StoreSet() {
		names = append(names, "pod store")
	}
	if !state.StoreSynced() {
		names = append(names, "sync")
	}
	return names
}
