// Package loopback is a small fleet for tests: real agents on loopback addresses, and a pod store
// that speaks of them as the API server would.
package loopback

import (
	"fmt"
	"net"
	"net/http"
	"sync"
	"testing"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// Username and Password are what Healthy agents want.
const (
	Username = "admin"
	Password = "pass-word-1"
)

// Credentials are those of Username and Password.
func Credentials() core.Credentials {
	credentials, err := core.NewCredentials(Username, Password)
	if err != nil {
		panic(err)
	}
	return credentials
}

// Agents are HTTP servers on addresses of 127.0.0.0/8, all on one port. They end with the test.
type Agents struct {
	Port int

	t       testing.TB
	mu      sync.Mutex
	servers map[string]*http.Server
	// requests counts what each agent was asked.
	requests map[string]int
}

// NewAgents finds a port; no agent runs yet.
func NewAgents(t testing.TB) *Agents {
	t.Helper()
	listener, err := net.Listen("tcp", "127.77.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	a := &Agents{
		Port: listener.Addr().(*net.TCPAddr).Port, t: t,
		servers: map[string]*http.Server{}, requests: map[string]int{},
	}
	t.Cleanup(func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		for _, server := range a.servers {
			_ = server.Close()
		}
	})
	return a
}

// Start runs an agent on an address.
func (a *Agents) Start(ip string, handler http.HandlerFunc) {
	a.t.Helper()
	listener, err := net.Listen("tcp", fmt.Sprintf("%s:%d", ip, a.Port))
	if err != nil {
		a.t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.mu.Lock()
		a.requests[ip]++
		a.mu.Unlock()
		handler(w, r)
	})}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.servers[ip] = server
	go func() { _ = server.Serve(listener) }()
}

// Requests is how often the agent on an address was asked so far.
func (a *Agents) Requests(ip string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.requests[ip]
}

// Stop ends the agent on an address: connections are refused from then on.
func (a *Agents) Stop(ip string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	_ = a.servers[ip].Close()
	delete(a.servers, ip)
}

// Healthy answers whoever knows the password.
func Healthy(version string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		user, password, ok := r.BasicAuth()
		if !ok || user != Username || password != Password {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = fmt.Fprintf(w, `{"api_version":1,"haproxy":{"version":%q}}`, version)
	}
}

// Hung never answers.
func Hung(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
