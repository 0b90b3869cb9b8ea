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
