package effects

import (
	"context"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
)

const (
	proxyChildAgent = "PROBE_PROXY_TEST_AGENT"
	farAgent        = "192.0.2.10:5555"
)

// No proxy of the environment is used (R25). Go reads the environment once and never proxies
// loopback addresses: hence a process of its own and an address that is not one. What the child
// dials is sent to the agent on loopback, so that nothing leaves the machine.
func TestProbeUsesNoProxy(t *testing.T) {
	agent := newHTTPAgent(t, answering(validDocument))
	proxy := newHTTPAgent(t, answering(validDocument))
	child := exec.Command(os.Args[0], "-test.run=^TestProbeProxyChild$", "-test.v")
	child.Env = append(os.Environ(), proxyChildAgent+"="+agent.Listener.Addr().String())
	for _, name := range []string{
		"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy",
	} {
		child.Env = append(child.Env, name+"="+proxy.URL)
	}
	child.Env = append(child.Env, "NO_PROXY=", "no_proxy=")
	output, err := child.CombinedOutput()
	if err != nil || !strings.Contains(string(output), "--- PASS: TestProbeProxyChild") {
		t.Fatalf("child: %v\n%s", err, output)
	}
	if agent.requests.Load() != 1 || proxy.connections.Load() != 0 {
		t.Errorf("%d requests at the agent, %d connections at the proxy; want 1 and 0",
			agent.requests.Load(), proxy.connections.Load())
	}
}

func TestProbeProxyChild(t *testing.T) {
	agent := os.Getenv(proxyChildAgent)
	if agent == "" {
		t.Skip("runs as a child of TestProbeUsesNoProxy")
	}
	prober := newTestProber(t, TLSFiles{})
	var dialled []string
	prober.dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		dialled = append(dialled, address)
		return (&net.Dialer{}).DialContext(ctx, network, agent)
	}
	outcome := prober.Probe(context.Background(), probeOf(t, "http://"+farAgent, ampleTime))
	wantAnswer(t, outcome, validAnswer)
	if len(dialled) != 1 || dialled[0] != farAgent {
		t.Errorf("dialled %q, want %q once", dialled, farAgent)
	}
}
