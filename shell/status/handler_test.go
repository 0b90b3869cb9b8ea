package status_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell"
	"github.com/haproxy-discovery/haproxy-discovery/shell/internal/loopback"
	"github.com/haproxy-discovery/haproxy-discovery/shell/status"
	"github.com/haproxy-discovery/haproxy-discovery/shell/timeline"
)

// pendingStore has not synced.
type pendingStore struct{ shell.PodSlice }

func (pendingStore) HasSynced() bool { return false }

// Ready is the gate, and what it waits for is named; healthy is the loop.
func TestHealthAndReadiness(t *testing.T) {
	s := serve(t)
	expect := func(path string, want int, line string) {
		t.Helper()
		code, text := s.get(path)
		if code != want || text != line+"\n" {
			t.Errorf("%s: %d %q, want %d %q", path, code, text, want, line)
		}
	}
	expect("/healthz", 503, "not healthy: the component is not running")
	expect("/readyz", 503, "not ready: waiting for config, credentials, pod store, sync")
	s.start()
	for _, step := range []struct {
		happen  func()
		waiting string
	}{
		{func() { s.HandleEvent(core.ConfigValidated{AgentPort: 5555}) }, "credentials, pod store, sync"},
		{func() { s.SetPodStore(pendingStore{}) }, "credentials, sync"},
		{func() { s.HandleEvent(core.CredentialsUpdated{Credentials: loopback.Credentials()}) }, "sync"},
	} {
		step.happen()
		s.await("the loop", func(core.State) bool { return true })
		expect("/readyz", 503, "not ready: waiting for "+step.waiting)
		expect("/healthz", 200, "ok")
	}
	s.HandleEvent(shell.ResourceSyncComplete{Resource: core.HAProxyPods})
	s.await("the gate", core.State.GateOpen)
	expect("/readyz", 200, "ok")
}

// A page that observes nothing is not healthy, and says what is missing.
func TestPageThatObservesNothingIsNotHealthy(t *testing.T) {
	page := status.New(status.Options{})
	for path, want := range map[string]string{"/healthz": "shell.WithObserver", "/readyz": "waiting for config"} {
		answer := httptest.NewRecorder()
		page.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
		if answer.Code != 503 || !strings.Contains(answer.Body.String(), want) {
			t.Errorf("%s: %d %s", path, answer.Code, answer.Body)
		}
	}
}

// hungStore lets the loop hang from its first look at the store on.
type hungStore struct {
	shell.PodSlice
	hangs, release chan struct{}
}

func (s hungStore) List(labels.Selector) ([]runtime.Object, error) {
	select {
	case s.hangs <- struct{}{}:
	default:
	}
	<-s.release
	return nil, errors.New("too late")
}

func TestLoopThatHangsIsNotHealthy(t *testing.T) {
	t.Parallel()
	s := serve(t)
	store := hungStore{hangs: make(chan struct{}, 1), release: make(chan struct{})}
	s.SetPodStore(store)
	s.start()
	<-store.hangs
	code, text := s.get("/healthz")
	if code != 503 || !strings.Contains(text, "has not answered") {
		t.Errorf("%d %q", code, text)
	}
	close(store.release)
	s.await("the loop", func(core.State) bool { return true })
	if code, text := s.get("/healthz"); code != 200 {
		t.Errorf("%d %q", code, text)
	}
}

func TestDebugFleet(t *testing.T) {
	agents := loopback.NewAgents(t)
	agents.Start("127.77.0.1", loopback.Healthy("3.4.3"))
	terminating := loopback.Pod("hap-3", "u3", "127.77.0.1")
	_ = unstructured.SetNestedField(terminating.Object, "2026-01-01T00:00:00Z", "metadata", "deletionTimestamp")
	s := serve(t)
	s.run(agents.Port, loopback.NewStore(
		loopback.Pod("hap-0", "u0", "127.77.0.1"), loopback.Pod("hap-1", "u1", "127.77.0.9"),
		loopback.Pod("hap-2", "u2", "no address"), terminating))
	s.await("the first publication and a retry", func(state core.State) bool {
		_, generation, _ := state.Published()
		return generation > 0 && state.RetryTimersLen() == 1
	})
	s.Report(shell.Problem{Kind: "api_unreachable", Err: errors.New("no route to host")})
	s.await("the loop", func(core.State) bool { return true })

	secret := timeline.Source{
		Kind: timeline.CredentialSource, Name: "Secret lb/hap", State: "connected", Error: "has no key",
	}
	if s.fleet().Audit != nil {
		t.Error("an audit is shown that nobody makes")
	}
	audited := timeline.Source{Kind: timeline.PodSource, Name: "pods", Audit: timeline.Audit{
		Began: time.Now().Add(-time.Hour), Verified: time.Now().Add(-time.Minute), LostViews: 2,
	}}
	s.page.FollowSources(func() []timeline.Source { return []timeline.Source{secret, audited} })

	f := s.fleet()
	if len(f.Sources) != 2 || f.Sources[0] != (sourceRow{secret.Kind, secret.Name, secret.State, secret.Error}) {
		t.Errorf("the sources are %+v", f.Sources)
	}
	if f.Audit == nil || f.Audit.Age < 60 || f.Audit.Lost != 2 ||
		f.Audit.Time != audited.Audit.Verified.UTC().Format("2006-01-02T15:04:05.000Z") {
		t.Errorf("the audit is %+v", f.Audit)
	}
	if !f.GateOpen || f.Generation != 1 || f.FleetSize != 1 || f.Candidates != 0 || f.Rejected != 2 ||
		f.Ignored != 1 || f.ViewTime == "" || f.ViewAge < 0 || len(f.Problems) != 1 ||
		f.Problems[0].Text != "no route to host" || len(f.Pods) != 4 {
		t.Fatalf("the fleet is %+v", f)
	}
	admitted, failed, malformed, ignored := f.Pods[0], f.Pods[1], f.Pods[2], f.Pods[3]
	if admitted.Verdict != "admitted" || admitted.Version != "3.4.3" || len(admitted.RuntimeID) != 64 ||
		!strings.HasPrefix(admitted.URL, "http://127.77.0.1:") || admitted.UID != "u0" ||
		admitted.NextRetry != "" || admitted.Probe != "" {
		t.Errorf("admitted: %+v", admitted)
	}
	retry, err := time.Parse(time.RFC3339, failed.NextRetry)
	since, err2 := time.Parse(time.RFC3339, failed.Since)
	if wait := retry.Sub(since); err != nil || err2 != nil || wait < 16*time.Second || wait > 24*time.Second {
		t.Errorf("rejected since %s, asked again at %s", failed.Since, failed.NextRetry)
	}
	if failed.Verdict != "rejected" || failed.Reason != "agent_unreachable" || failed.Cause != "refused" ||
		failed.Attempts != 1 || failed.Detail != "connection refused" {
		t.Errorf("failed: %+v", failed)
	}
	if malformed.Reason != "malformed_pod" || malformed.Detail == "" || malformed.URL != "" {
		t.Errorf("malformed: %+v", malformed)
	}
	if ignored.Verdict != "ignored" || ignored.Cause != "terminating" {
		t.Errorf("ignored: %+v", ignored)
	}
}

// Reading is all that can be done, and no page of another origin can do anything with what it gets.
func TestMethodsAndHeaders(t *testing.T) {
	s := serve(t)
	s.start()
	s.await("the loop", func(core.State) bool { return true })
	for _, path := range []string{"/", "/style.css", "/script.js", "/debug/fleet", "/healthz", "/events"} {
		for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions} {
			response, _ := s.do(method, path)
			if response.StatusCode != http.StatusMethodNotAllowed {
				t.Errorf("%s %s: %d", method, path, response.StatusCode)
			}
		}
		response, text := s.do(http.MethodHead, path)
		if response.StatusCode != http.StatusOK || text != "" {
			t.Errorf("HEAD %s: %d %q", path, response.StatusCode, text)
		}
		policy := response.Header.Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none';") || strings.Contains(policy, "unsafe") ||
			strings.Contains(policy, "http") || response.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("HEAD %s: headers %v", path, response.Header)
		}
	}
	for _, path := range []string{"/nothing", "/page/index.html", "/index.html/", "/../handler.go", "/metrics"} {
		if code, _ := s.get(path); code != http.StatusNotFound {
			t.Errorf("%s: %d", path, code)
		}
	}
}

// The page refers to its own files only, and has no script or style of its own that the policy
// would forbid.
func TestPageRefersToNothingOutside(t *testing.T) {
	files, err := filepath.Glob("page/*")
	if err != nil || len(files) < 4 {
		t.Fatalf("%v %v", files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		allowed := strings.ReplaceAll(string(text), "http://www.w3.org/2000/svg", "")
		for _, forbidden := range []string{"//[a-z]+\\.", "http:", "https:", "innerHTML", "outerHTML",
			"insertAdjacentHTML", "document.write", "\\beval\\(", " style=", " on[a-z]+=", "<script>"} {
			if found := regexp.MustCompile(forbidden).FindString(allowed); found != "" {
				t.Errorf("%s holds %q", file, found)
			}
		}
	}
}
