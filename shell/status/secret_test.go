package status_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell"
	"github.com/haproxy-discovery/haproxy-discovery/shell/internal/loopback"
	"github.com/haproxy-discovery/haproxy-discovery/shell/metrics"
	"github.com/haproxy-discovery/haproxy-discovery/shell/status"
)

// R26: agents repeat what they were sent wherever they can, passwords are rotated, a probe is under
// way; no response shows a password, in any of the usual encodings.
func TestNoResponseShowsAPassword(t *testing.T) {
	t.Parallel()
	passwords := []string{`pl@nted/"first" wörd&1`, `pl@nted/"second" wörd&2`}
	agents := loopback.NewAgents(t)
	echo := func(part func(w http.ResponseWriter, secret string)) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			_, password, _ := r.BasicAuth()
			part(w, password)
		}
	}
	document := func(w http.ResponseWriter, version string) {
		_ = json.NewEncoder(w).Encode(map[string]any{
			"api_version": 1, "haproxy": map[string]string{"version": version},
		})
	}
	for i, agent := range []func(w http.ResponseWriter, secret string){
		func(w http.ResponseWriter, secret string) { document(w, secret) },
		func(w http.ResponseWriter, secret string) { document(w, "3.4.3-"+hex.EncodeToString([]byte(secret))) },
		func(w http.ResponseWriter, secret string) { http.Error(w, secret, http.StatusUnauthorized) },
		func(w http.ResponseWriter, secret string) {
			w.Header().Set("X-Echo", secret)
			_, _ = fmt.Fprint(w, secret)
		},
		func(w http.ResponseWriter, _ string) { document(w, "3.4.3") },
	} {
		agents.Start(fmt.Sprintf("127.77.0.%d", i+1), echo(agent))
	}
	agents.Start("127.77.0.6", loopback.Hung)
	store := loopback.NewStore()
	for i := range 6 {
		store.Set(loopback.Pod(fmt.Sprint("hap-", i), fmt.Sprint("u", i), fmt.Sprintf("127.77.0.%d", i+1)))
	}

	s := serve(t)
	component, page, server := s.withMetrics()
	defer server.Close()
	component.HandleEvent(core.ConfigValidated{AgentPort: agents.Port})
	component.SetPodStore(store)
	for _, password := range passwords {
		credentials, err := core.NewCredentials("admin", password)
		if err != nil {
			t.Fatal(err)
		}
		component.HandleEvent(core.CredentialsUpdated{Credentials: credentials})
		component.Report(shell.Problem{Kind: "of_an_adapter", Err: fmt.Errorf("refused %v", credentials)})
	}
	s.Component, s.page, s.url = component, page, server.URL
	s.start()
	s.await("all verdicts", func(state core.State) bool {
		_, _, published := state.Published()
		return published && state.RetryTimersLen() == 5
	})

	next, end := s.follow()
	defer end()
	responses := map[string]string{"/events": next().raw}
	for _, path := range []string{"/", "/script.js", "/debug/fleet", "/metrics", "/healthz", "/readyz"} {
		response, text := s.do(http.MethodGet, path)
		var headers bytes.Buffer
		_ = response.Header.Write(&headers)
		responses[path] = headers.String() + text
	}
	if !strings.Contains(responses["/debug/fleet"], "invalid_document") ||
		!strings.Contains(responses["/debug/fleet"], "unauthorized") ||
		!strings.Contains(responses["/metrics"], `probes_total{result="unauthorized"} `) {
		t.Fatalf("the agents' answers had no effect, so this shows nothing: %s", responses["/debug/fleet"])
	}
	for path, text := range responses {
		for _, password := range passwords {
			if trace := traceIn(text, password); trace != "" {
				t.Errorf("%s holds %q", path, trace)
			}
		}
	}
	if traceIn("x "+base64.StdEncoding.EncodeToString([]byte("admin:"+passwords[0])), passwords[0]) == "" {
		t.Error("a trace would not be found")
	}
}

// withMetrics is another component, served with metrics.
func (s *served) withMetrics() (*shell.Component, *status.Page, *httptest.Server) {
	counted := metrics.New()
	registry := prometheus.NewRegistry()
	registry.MustRegister(counted)
	page := status.New(status.Options{Metrics: promhttp.HandlerFor(registry, promhttp.HandlerOpts{})})
	component := shell.New(nil, nil, shell.WithObserver(page), shell.WithObserver(counted),
		shell.WithConfig(core.Config{RetryDelay: 20 * time.Second, MaxRetryDelay: 30 * time.Second}))
	return component, page, httptest.NewServer(page)
}

// traceIn finds a form of the password in a text.
func traceIn(text, password string) string {
	lower := strings.ToLower(text)
	quoted, _ := json.Marshal(password)
	pair := []byte("admin:" + password)
	hash := sha256.Sum256([]byte(password))
	for _, form := range []string{
		password, strings.Trim(string(quoted), `"`), html.EscapeString(password),
		url.QueryEscape(password), url.PathEscape(password),
		hex.EncodeToString([]byte(password)), hex.EncodeToString(hash[:]),
		base64.StdEncoding.EncodeToString([]byte(password))[:16],
		base64.StdEncoding.EncodeToString(pair)[:16], base64.URLEncoding.EncodeToString(pair)[:16],
		base32.StdEncoding.EncodeToString([]byte(password))[:16], "pl@nted",
	} {
		if strings.Contains(lower, strings.ToLower(form)) {
			return form
		}
	}
	return ""
}
