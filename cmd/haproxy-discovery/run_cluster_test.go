package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// What discovery does on a cluster is tested against a real API server. Here is what it does without
// one that answers.

func kubeconfig(t *testing.T, server string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config")
	writeFile(t, path, fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"c",
		"clusters":[{"name":"c","cluster":{"server":%q}}],
		"users":[{"name":"u","user":{"token":"s3cret-token"}}],
		"contexts":[{"name":"c","context":{"cluster":"c","user":"u","namespace":"lb"}}]}`, server))
	return path
}

// An API server that is out of reach is waited for; a signal ends that at once.
func TestUnreachableClusterIsWaitedFor(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(nil)
	server.Close()
	s := start(t, "run", "--kubeconfig", kubeconfig(t, server.URL), "--leader-elect")
	s.awaitStderr("trying again until it is not")
	s.awaitStderr("watch=pods")
	s.awaitStderr("lease not at hand")
	begun := time.Now()
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	if status := s.end(); status != 0 || time.Since(begun) > 2*time.Second {
		t.Errorf("status %d after %v:\n%s", status, time.Since(begun), s.stderr())
	}
	if strings.Contains(s.stderr(), "s3cret-token") || len(s.seen) > 0 {
		t.Errorf("%v\n%s", s.seen, s.stderr())
	}
}

// Who asks once does not wait.
func TestUnreachableClusterEndsOnce(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(nil)
	server.Close()
	got := command(t, "", "run", "--once", "--kubeconfig", kubeconfig(t, server.URL))
	if got.status != 1 || strings.Count(got.errOut, "\n") != 1 || !strings.Contains(got.errOut, server.URL) {
		t.Errorf("status %d: %q", got.status, got.errOut)
	}
}

// What trying again will not mend ends the program before it has begun, in one line.
func TestClusterThatRefusesIsOneLineAndStatusTwo(t *testing.T) {
	t.Parallel()
	answers := map[int]string{
		http.StatusUnauthorized: "expired", http.StatusForbidden: "haproxy-discovery manifests",
		http.StatusNotFound: "pods in namespace lb",
	}
	for status, names := range answers {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
		}))
		got := command(t, "", "run", "--kubeconfig", kubeconfig(t, server.URL))
		server.Close()
		if got.status != 2 || strings.Count(got.errOut, "\n") != 1 || !strings.Contains(got.errOut, names) ||
			!strings.Contains(got.errOut, server.URL) {
			t.Errorf("%d: status %d: %q", status, got.status, got.errOut)
		}
	}
	secure := httptest.NewUnstartedServer(nil)
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // it complains of the client that does
	secure.StartTLS()
	defer secure.Close()
	got := command(t, "", "run", "--kubeconfig", kubeconfig(t, secure.URL))
	if got.status != 2 || !strings.Contains(got.errOut, "certificate") {
		t.Errorf("certificate: status %d: %q", got.status, got.errOut)
	}
}

// A server that takes the connection and never answers counts as out of reach.
func TestHungClusterIsWaitedFor(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
	}))
	defer server.Close()
	defer server.CloseClientConnections()
	s := start(t, "run", "--kubeconfig", kubeconfig(t, server.URL))
	s.awaitStderr("trying again until it is not")
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	if status := s.end(); status != 0 {
		t.Errorf("status %d:\n%s", status, s.stderr())
	}
}

// An API server that fails or hangs right after the start is not waited for either by who asks once.
// In this process, for the limit is shortened.
func TestClusterLostBeforeTheSyncEndsOnce(t *testing.T) {
	before := onceLimit
	onceLimit = 300 * time.Millisecond
	defer func() { onceLimit = before }()
	for name, lost := range map[string]http.HandlerFunc{
		"fails": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusServiceUnavailable)
		},
		"hangs": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	} {
		t.Run(name, func(t *testing.T) {
			api := newPodAPI(t)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				// The checks list one pod and watch from there; the informer begins otherwise.
				query := r.URL.Query()
				if query.Get("limit") == "1" || query.Get("resourceVersion") == "1" {
					api.ServeHTTP(w, r)
				} else {
					lost(w, r)
				}
			}))
			defer server.Close()
			defer server.CloseClientConnections()
			var errOut strings.Builder
			root := newRootCommand(strings.NewReader(""), io.Discard, &errOut)
			root.SetArgs([]string{"run", "--once", "--kubeconfig", kubeconfig(t, server.URL),
				"--credentials-dir", credentialsDir(t, "admin", password)})
			began := time.Now()
			err := root.ExecuteContext(t.Context())
			if took := time.Since(began); took > silenceOfServers {
				t.Errorf("ended after %v", took)
			}
			if exitStatus(err) != 1 {
				t.Fatalf("status %d: %v\n%s", exitStatus(err), err, errOut.String())
			}
			if text := err.Error(); strings.Contains(text, "\n") || !strings.Contains(text, server.URL) ||
				!strings.Contains(text, "no contact") {
				t.Errorf("%q", text)
			}
		})
	}
}

// silenceOfServers is what it takes until a server that hangs is told of, which is too late here.
const silenceOfServers = 15 * time.Second
