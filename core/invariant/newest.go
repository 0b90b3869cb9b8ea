package invariant

import "github.com/haproxy-discovery/haproxy-discovery/core"

// I3, newest settings. What a probe and a publication carry is compared where they are followed.

// checkNewest: the state has taken the newest settings in.
func (t *transition) checkNewest() {
	if config := t.after.Config(); config != t.known.config {
		t.violate("I3", "the numbers of the rules are %+v instead of %+v", config, t.known.config)
	}
	settings, configured := t.after.Settings()
	if configured != t.known.configured || settings != t.known.settings {
		t.violate("I3", "config %+v is not the newest one, %+v", settings, t.known.settings)
	}
	if t.after.Credentials() != t.known.credentials {
		t.violate("I3", "the state's credentials are not the newest ones")
	}
}

func (t *transition) checkNewestProbed(e core.StartProbe) {
	if e.Credentials != t.known.credentials {
		t.violate("I3", "probe %d has old credentials", e.Probe)
	}
}

func (t *transition) checkNewestPublished(e core.HAProxyPodsDiscovered) {
	if e.Fleet.Credentials() != t.known.credentials {
		t.violate("I3", "generation %d has old credentials", e.Generation)
	}
}
