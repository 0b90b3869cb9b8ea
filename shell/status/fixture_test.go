package status_test

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell"
	"github.com/haproxy-discovery/haproxy-discovery/shell/internal/loopback"
	"github.com/haproxy-discovery/haproxy-discovery/shell/status"
	"github.com/haproxy-discovery/haproxy-discovery/shell/timeline"
)

const patience = 20 * time.Second

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// served is a component whose status is served on a loopback address.
type served struct {
	*shell.Component
	t    *testing.T
	page *status.Page
	url  string
	// stopServing ends the server and gives how long that took.
	stopServing func() time.Duration
}

// serve makes a component that does not run yet, and serves its status.
func serve(t *testing.T) *served {
	t.Helper()
	page := status.New(status.Options{StaleAfter: time.Minute, Build: "test build"})
	component := shell.New(nil, nil, shell.WithDriftInterval(0), shell.WithObserver(page),
		shell.WithConfig(core.Config{RetryDelay: 20 * time.Second, MaxRetryDelay: 30 * time.Second}))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- status.Serve(ctx, listener, page, nil) }()
	s := &served{Component: component, t: t, page: page, url: "http://" + listener.Addr().String()}
	s.stopServing = func() time.Duration {
		begun := time.Now()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		ended <- nil // for who stops once more
		return time.Since(begun)
	}
	t.Cleanup(func() { s.stopServing() })
	return s
}

// run starts the component, configured and with a store.
func (s *served) run(port int, store shell.PodStore) {
	s.t.Helper()
	s.HandleEvent(core.ConfigValidated{AgentPort: port, PodSelector: "app=haproxy"})
	s.HandleEvent(core.CredentialsUpdated{Credentials: loopback.Credentials()})
	s.SetPodStore(store)
	s.start()
}

func (s *served) start() {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Start(ctx) }()
	s.t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			s.t.Error(err)
		}
	})
}

func (s *served) await(what string, condition func(core.State) bool) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for s.Ping(ctx) != nil || !condition(s.page.Now().State) {
		if ctx.Err() != nil {
			s.t.Fatalf("waited in vain for %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}

func (s *served) changed(keys ...core.PodKey) {
	s.HandleEvent(shell.ResourceIndexUpdated{Resource: core.HAProxyPods, Keys: keys})
}

func (s *served) get(path string) (status int, body string) {
	s.t.Helper()
	response, text := s.do(http.MethodGet, path)
	return response.StatusCode, text
}

func (s *served) do(method, path string) (*http.Response, string) {
	s.t.Helper()
	request, err := http.NewRequest(method, s.url+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return response, string(text)
}

// fleet is /debug/fleet, read as a script would.
type fleet struct {
	GateOpen   bool    `json:"gate_open"`
	Generation int     `json:"generation"`
	FleetSize  int     `json:"fleet_size"`
	Candidates int     `json:"candidates"`
	Rejected   int     `json:"rejected"`
	Ignored    int     `json:"ignored"`
	ViewTime   string  `json:"view_time"`
	ViewAge    float64 `json:"view_age_seconds"`
	Audit      *struct {
		Time string  `json:"verified_time"`
		Age  float64 `json:"verified_age_seconds"`
		Lost int     `json:"lost_views"`
	}
	Sources  []sourceRow
	Problems []struct {
		Kind, Text string
		Count      int
	} `json:"problems"`
	Pods []podRow `json:"pods"`
}

type sourceRow struct {
	Kind               timeline.SourceKind
	Name, State, Error string
}

type podRow struct {
	Namespace, Name, UID, Verdict, Reason, Cause, Detail string
	Attempts                                             int
	Probe, Version, URL                                  string
	NextRetry                                            string `json:"next_retry"`
	RuntimeID                                            string `json:"runtime_id"`
	Since                                                string
}

func (s *served) fleet() fleet {
	s.t.Helper()
	code, text := s.get("/debug/fleet")
	var f fleet
	if err := json.Unmarshal([]byte(text), &f); err != nil || code != http.StatusOK {
		s.t.Fatalf("status %d, %v: %s", code, err, text)
	}
	return f
}
