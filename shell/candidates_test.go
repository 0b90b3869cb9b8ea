package shell

import (
	"errors"
	"strings"
	"testing"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell/internal/loopback"
)

func TestCandidatesOfAStore(t *testing.T) {
	credentials, _ := core.NewCredentials("admin", "secret")
	store := newTestStore(loopback.Pod("hap-1", "u1", "10.1.0.11"), loopback.Pod("hap-0", "u0", "10.1.0.10"), loopback.Pod("hap-2", "u2", ""))
	got, err := Candidates(core.Discovery{AgentPort: 5555, PodSelector: "app=haproxy"}, store, credentials)
	if err != nil || len(got) != 2 || got[0].URL != "http://10.1.0.10:5555" || got[1].UID != "u1" {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := Candidates(core.Discovery{AgentPort: 0}, store, credentials); err == nil || !strings.Contains(err.Error(), "port") {
		t.Errorf("port 0: %v", err)
	}
	store.Fail(errors.New("on fire"))
	if _, err := Candidates(core.Discovery{AgentPort: 5555}, store, credentials); err == nil || !strings.Contains(err.Error(), "on fire") {
		t.Errorf("unreadable store: %v", err)
	}
}
