package e2e

import (
	"crypto/tls"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/shell/kubernetes/e2e/internal/testbed"
)

// mutualTLS is agents that want to see a certificate, and the files that discovery is given.
type mutualTLS struct {
	t       *testing.T
	dir     string
	serving atomic.Pointer[tls.Config]
}

func newMutualTLS(t *testing.T) *mutualTLS { return &mutualTLS{t: t, dir: t.TempDir()} }

// agentsTrust makes this the authority of the agents, whose certificates expire at some time.
func (m *mutualTLS) agentsTrust(authority *testbed.CA, expires time.Time) {
	m.t.Helper()
	pair, err := authority.Issue(expires)
	check(m.t, err)
	config, err := authority.Demanding(pair)
	check(m.t, err)
	m.serving.Store(config)
}

// discoveryTrusts writes the files.
func (m *mutualTLS) discoveryTrusts(authority *testbed.CA) {
	m.t.Helper()
	pair, err := authority.Issue(time.Now().Add(time.Hour))
	check(m.t, err)
	for name, content := range map[string][]byte{
		"ca.pem": authority.PEM, "client.pem": pair.Certificate, "client.key": pair.Key,
	} {
		check(m.t, os.WriteFile(m.file(name), content, 0o600))
	}
}

func (m *mutualTLS) file(name string) string { return filepath.Join(m.dir, name) }

func (m *mutualTLS) world() *world {
	m.t.Helper()
	return newWorldOn(m.t, sharedControlPlane, &tls.Config{
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			return m.serving.Load(), nil
		},
	})
}

func (m *mutualTLS) flags() []string {
	return []string{
		"--agent-scheme", "https", "--agent-ca", m.file("ca.pem"), "--agent-cert",
		m.file("client.pem"), "--agent-key", m.file("client.key"),
		"--agent-server-name", testbed.AgentName,
	}
}

func newCA(t *testing.T) *testbed.CA {
	t.Helper()
	authority, err := testbed.NewCA()
	check(t, err)
	return authority
}

// All certificates are exchanged while the program runs, the authority's included. Until the files
// are, new agents are rejected; those admitted stay.
func TestMutualTLSWithFilesReplaced(t *testing.T) {
	t.Parallel()
	m := newMutualTLS(t)
	w := m.world()
	before, after := newCA(t), newCA(t)
	m.agentsTrust(before, time.Now().Add(time.Hour))
	m.discoveryTrusts(before)
	pods := w.launchMany(3)
	d := w.discover(m.flags()...)
	d.AwaitPods(pods...)
	d.AwaitFleet("https", func(fleet testbed.Fleet) bool {
		return strings.HasPrefix(fleet[pods[0].Name].URL, "https://"+pods[0].IP+":")
	})

	mark := d.Mark()
	m.agentsTrust(after, time.Now().Add(time.Hour))
	later := w.launch(testbed.Wish{Name: "later"})
	expectRejectedByTLS(t, d, mark, later)
	m.discoveryTrusts(after)
	d.AwaitPods(append(pods, later)...)
	expectTerminations(t, d, mark)
}

func TestExpiredAgentCertificate(t *testing.T) {
	t.Parallel()
	m := newMutualTLS(t)
	w := m.world()
	authority := newCA(t)
	m.agentsTrust(authority, time.Now().Add(-time.Minute))
	m.discoveryTrusts(authority)
	pod := w.launch(testbed.Wish{Name: "haproxy-0"})
	d := w.discover(m.flags()...)
	event := expectRejectedByTLS(t, d, 0, pod)
	if !strings.Contains(event.Detail, "expired") {
		t.Errorf("detail %q does not tell that the certificate has expired", event.Detail)
	}
	m.agentsTrust(authority, time.Now().Add(time.Hour))
	d.AwaitPods(pod)
}

func expectRejectedByTLS(
	t *testing.T, d *testbed.Discovery, mark testbed.Mark, pod *testbed.Pod,
) testbed.Event {
	t.Helper()
	event := d.Await(mark, "rejection of "+pod.Name, func(event testbed.Event) bool {
		return event.Kind == testbed.Rejected && event.UID == pod.UID
	})
	if event.Reason != "agent_unreachable" || event.Cause != "tls" {
		t.Errorf("rejected for %s, %s, want agent_unreachable, tls", event.Reason, event.Cause)
	}
	return event
}
