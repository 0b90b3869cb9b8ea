package effects

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

func TestProbeIsOnePlainGet(t *testing.T) {
	verifyNoProbeLeaks(t)
	var got *http.Request
	agent := newHTTPAgent(t, func(w http.ResponseWriter, r *http.Request) {
		got = r
		fmt.Fprint(w, validDocument)
	})
	wantAnswer(t, probeOnce(t, agent.URL), validAnswer)
	if agent.requests.Load() != 1 {
		t.Errorf("%d requests, want 1", agent.requests.Load())
	}
	if got.Method != http.MethodGet || got.RequestURI != "/v1/state" || !got.Close {
		t.Errorf("request %s %s, close %v", got.Method, got.RequestURI, got.Close)
	}
	if want := strings.TrimPrefix(agent.URL, "http://"); got.Host != want {
		t.Errorf("host %q, want %q", got.Host, want)
	}
}

// The password's characters matter neither to the URL nor to the header.
func TestProbeAuthenticatesWithAnyCharacters(t *testing.T) {
	agent := newHTTPAgent(t, func(w http.ResponseWriter, r *http.Request) {
		if user, password, ok := r.BasicAuth(); !ok || user != "admin" || password != testPassword {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Fprint(w, validDocument)
	})
	wantAnswer(t, probeOnce(t, agent.URL), validAnswer)
}

func TestProbeWithoutCredentialsSendsNone(t *testing.T) {
	var header []string
	agent := newHTTPAgent(t, func(w http.ResponseWriter, r *http.Request) {
		header = r.Header["Authorization"]
		fmt.Fprint(w, validDocument)
	})
	probe := probeOf(t, agent.URL, ampleTime)
	probe.Credentials = core.Credentials{}
	outcome := newTestProber(t, TLSFiles{}).Probe(context.Background(), probe)
	wantAnswer(t, outcome, validAnswer)
	if header != nil {
		t.Errorf("Authorization %q was sent", header)
	}
}

// No redirect is followed, so that no Authorization header gets anywhere else.
func TestProbeFollowsNoRedirect(t *testing.T) {
	verifyNoProbeLeaks(t)
	target := newHTTPAgent(t, answering(validDocument))
	_, port, _ := net.SplitHostPort(target.Listener.Addr().String())
	for _, status := range []int{301, 302, 303, 307, 308} {
		for _, location := range []string{
			target.URL + "/v1/state", "http://localhost:" + port + "/v1/state", "/elsewhere", "/v1/state",
		} {
			agent := newHTTPAgent(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", location)
				w.WriteHeader(status)
				fmt.Fprint(w, validDocument)
			})
			want := fmt.Sprintf("status %d", status)
			wantFailure(t, probeOnce(t, agent.URL), core.CauseUnexpectedStatus, want)
			if agent.requests.Load() != 1 {
				t.Errorf("%d to %s: %d requests, want 1", status, location, agent.requests.Load())
			}
		}
	}
	if target.connections.Load() != 0 {
		t.Errorf("the redirect's target saw %d connections", target.connections.Load())
	}
}

// Each probe opens its own connection, so that it reaches whoever listens now.
func TestProbeSharesNoConnection(t *testing.T) {
	verifyNoProbeLeaks(t)
	agent := newHTTPAgent(t, answering(validDocument))
	prober := newTestProber(t, TLSFiles{})
	for range 3 {
		outcome := prober.Probe(context.Background(), probeOf(t, agent.URL, ampleTime))
		wantAnswer(t, outcome, validAnswer)
	}
	if agent.connections.Load() != 3 {
		t.Errorf("%d connections, want 3", agent.connections.Load())
	}
}

// The predecessor keeps its side of an old connection open; its successor has taken over
// the address.
func TestProbeReachesTheSuccessor(t *testing.T) {
	verifyNoProbeLeaks(t)
	predecessor := newRawAgent(t, sendingThenSilent(withLength(
		`{"api_version":1,"haproxy":{"version":"3.3.1"}}`)))
	prober := newTestProber(t, TLSFiles{})
	first := prober.Probe(context.Background(), probeOf(t, predecessor.url, ampleTime))
	wantAnswer(t, first, core.Answer{Version: "3.3.1"})

	successor := newHTTPAgent(t, answering(validDocument))
	address := successor.Listener.Addr().String()
	prober.dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}
	second := prober.Probe(context.Background(), probeOf(t, predecessor.url, ampleTime))
	wantAnswer(t, second, validAnswer)
}

// IPv6 literals are bracketed where they are dialled and in the Host header.
func TestProbeBracketsIPv6(t *testing.T) {
	var host string
	agent := newHTTPAgent(t, func(w http.ResponseWriter, r *http.Request) {
		host = r.Host
		fmt.Fprint(w, validDocument)
	})
	for _, address := range []string{
		"[fd00::a]:5555", "[2001:db8::10]:5555", "[::ffff:10.1.0.10]:5555",
	} {
		prober := newTestProber(t, TLSFiles{})
		var dialled string
		prober.dial = func(ctx context.Context, network, target string) (net.Conn, error) {
			dialled = target
			return (&net.Dialer{}).DialContext(ctx, network, agent.Listener.Addr().String())
		}
		probe := probeOf(t, "http://"+address, ampleTime)
		wantAnswer(t, prober.Probe(context.Background(), probe), validAnswer)
		if dialled != address || host != address {
			t.Errorf("dialled %q, host %q, want %q", dialled, host, address)
		}
	}
}

func TestProbeRefusesOtherURLs(t *testing.T) {
	prober := newTestProber(t, TLSFiles{})
	prober.dial = func(context.Context, string, string) (net.Conn, error) {
		t.Error("dialled")
		return nil, errors.New("must not dial")
	}
	for _, bad := range []string{
		"", "http://", "http://:5555", "http://127.0.0.1", "ftp://127.0.0.1:5555",
		"http://127.0.0.1:5555/path", "http://127.0.0.1:5555?q", "127.0.0.1:5555",
		"http://admin:" + "secret" + "@127.0.0.1:5555", "http://127.0.0.1:port", "http://[fd00::a:5555",
	} {
		outcome := prober.Probe(context.Background(), probeOf(t, bad, ampleTime))
		wantFailure(t, outcome, core.CauseOther, "URL is not of the form scheme://ip:port")
	}
}

func TestProbeCancelled(t *testing.T) {
	verifyNoProbeLeaks(t)
	arrived := make(chan struct{}, 1)
	agent := newRawAgent(t, func(_ net.Conn, done <-chan struct{}) {
		arrived <- struct{}{}
		<-done
	})
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-arrived
		cancel()
	}()
	began := time.Now()
	outcome := newTestProber(t, TLSFiles{}).Probe(ctx, probeOf(t, agent.url, ampleTime))
	wantFailure(t, outcome, core.CauseOther, "cancelled")
	if elapsed := time.Since(began); elapsed > 5*time.Second {
		t.Errorf("took %v", elapsed)
	}
}
