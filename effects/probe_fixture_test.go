package effects

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

const (
	validDocument = `{"api_version":1,"agent_version":"0.3.0",` +
		`"haproxy":{"version":"3.4.3","full_version":"3.4.3-1","worker_pid":42}}`
	testPassword = "p@ss/w%rd:#€"
	// ampleTime is a probe limit that no test reaches.
	ampleTime = 30 * time.Second
)

var validAnswer = core.Answer{Version: "3.4.3", FullVersion: "3.4.3-1"}

func testCredentials(t testing.TB, password string) core.Credentials {
	t.Helper()
	credentials, err := core.NewCredentials("admin", password)
	if err != nil {
		t.Fatal(err)
	}
	return credentials
}

func newTestProber(t testing.TB, files TLSFiles) *Prober {
	t.Helper()
	prober, err := NewProber(files)
	if err != nil {
		t.Fatal(err)
	}
	return prober
}

func probeOf(t testing.TB, agentURL string, timeout time.Duration) core.StartProbe {
	t.Helper()
	return core.StartProbe{
		Probe:       1,
		Identity:    core.Identity{Namespace: "lb", Name: "hap-0", UID: "u1", URL: agentURL},
		Credentials: testCredentials(t, testPassword),
		Timeout:     timeout,
	}
}

// probeOnce probes with ample time.
func probeOnce(t testing.TB, agentURL string) core.Outcome {
	t.Helper()
	probe := probeOf(t, agentURL, ampleTime)
	return newTestProber(t, TLSFiles{}).Probe(context.Background(), probe)
}

func wantAnswer(t testing.TB, outcome core.Outcome, want core.Answer) {
	t.Helper()
	if outcome != core.Outcome(want) {
		t.Errorf("outcome %+v, want %+v", outcome, want)
	}
}

// wantFailure also holds that the detail is one short line without the password.
func wantFailure(t testing.TB, outcome core.Outcome, cause core.Cause, detail string) {
	t.Helper()
	failure, isFailure := outcome.(core.Failure)
	if !isFailure || failure.Cause != cause || !strings.Contains(failure.Detail, detail) {
		t.Errorf("outcome %+v, want failure %s with %q", outcome, cause, detail)
	}
	if failure.Detail == "" || strings.ContainsAny(failure.Detail, "\r\n") {
		t.Errorf("detail %q is not one line", failure.Detail)
	}
	if strings.Contains(failure.Detail, testPassword) {
		t.Errorf("detail %q holds the password", failure.Detail)
	}
}

// verifyNoProbeLeaks holds, after all other clean-up, that no goroutine was left behind.
func verifyNoProbeLeaks(t testing.TB) {
	t.Helper()
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) })
}

// httpAgent is a real HTTP server that counts requests and connections.
type httpAgent struct {
	*httptest.Server
	requests    atomic.Int64
	connections atomic.Int64
}

func newHTTPAgent(t testing.TB, handler http.HandlerFunc) *httpAgent {
	t.Helper()
	agent := &httpAgent{}
	agent.Server = httptest.NewUnstartedServer(http.HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) {
			agent.requests.Add(1)
			handler(w, r)
		}))
	agent.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			agent.connections.Add(1)
		}
	}
	agent.Start()
	t.Cleanup(agent.Close)
	return agent
}

func answering(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }
}

// rawAgent is a TCP server that speaks as a test wants it to; conversations end with the test.
type rawAgent struct {
	url      string
	accepted atomic.Int64
	running  sync.WaitGroup
}

// newRawAgent calls talk for each connection, with its request already read unless unread is set.
// done is closed at the end of the test.
func newRawAgent(t testing.TB, talk func(conn net.Conn, done <-chan struct{})) *rawAgent {
	t.Helper()
	return newUnreadAgent(t, func(conn net.Conn, done <-chan struct{}) {
		if _, err := http.ReadRequest(bufio.NewReader(conn)); err != nil {
			return
		}
		talk(conn, done)
	})
}

// newUnreadAgent calls talk as soon as a connection is accepted.
func newUnreadAgent(t testing.TB, talk func(conn net.Conn, done <-chan struct{})) *rawAgent {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	agent := &rawAgent{url: "http://" + listener.Addr().String()}
	done := make(chan struct{})
	agent.running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			agent.accepted.Add(1)
			agent.running.Go(func() {
				defer conn.Close()
				talk(conn, done)
			})
		}
	})
	t.Cleanup(func() {
		close(done)
		listener.Close()
		agent.running.Wait()
	})
	return agent
}

// sending answers with fixed bytes and closes.
func sending(response string) func(net.Conn, <-chan struct{}) {
	return func(conn net.Conn, _ <-chan struct{}) { fmt.Fprint(conn, response) }
}

// sendingThenSilent answers with fixed bytes and keeps the connection open.
func sendingThenSilent(response string) func(net.Conn, <-chan struct{}) {
	return func(conn net.Conn, done <-chan struct{}) {
		fmt.Fprint(conn, response)
		<-done
	}
}

// withLength is a complete response with status 200.
func withLength(body string) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}
