package demo

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// agent is a real HTTP server. A crashed agent is one that was stopped: its address refuses
// connections. A hung one accepts connections and requests, and stays silent.
type agent struct {
	server      *http.Server
	serving     sync.WaitGroup
	connections sync.WaitGroup
	accounts    *accounts
	port        int

	mu    sync.Mutex
	state agentState
}

// slowAnswer is how long a slow agent takes: well within the time limit of a probe.
const slowAnswer = 300 * time.Millisecond

type agentState struct {
	hung    bool
	slow    bool
	version string // of its HAProxy; empty while the agent does not know it yet
}

// startAgent listens on ip and port; port 0 is a free one.
func startAgent(ip string, port int, accounts *accounts, state agentState) (*agent, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort(ip, strconv.Itoa(port)))
	if err != nil {
		return nil, fmt.Errorf("starting an agent: %w", err)
	}
	a := &agent{
		accounts: accounts, port: listener.Addr().(*net.TCPAddr).Port, state: state,
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/state", a.serveState)
	a.server = &http.Server{
		Handler: mux, ConnState: a.countConnections, ReadHeaderTimeout: 5 * time.Second,
	}
	a.serving.Go(func() { _ = a.server.Serve(listener) })
	return a, nil
}

// countConnections is called by Serve for each new connection, and by a connection's goroutine as
// the last thing that it does.
func (a *agent) countConnections(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		a.connections.Add(1)
	case http.StateClosed:
		a.connections.Done()
	}
}

// stop returns once the address refuses connections and no goroutine is left. It may be repeated.
func (a *agent) stop() {
	_ = a.server.Close()
	a.serving.Wait()
	a.connections.Wait()
}

// become changes how the agent answers from now on. Requests that a hung agent was left with stay
// unanswered.
func (a *agent) become(state agentState) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.state = state
}

func (a *agent) is() agentState {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.state
}

func (a *agent) serveState(w http.ResponseWriter, r *http.Request) {
	state := a.is()
	if state.hung {
		<-r.Context().Done() // the connection was closed, by the client or by stop
		return
	}
	if state.slow {
		select {
		case <-time.After(slowAnswer):
		case <-r.Context().Done():
			return
		}
	}
	if !a.accounts.authorize(r) {
		w.Header().Set("WWW-Authenticate", `Basic realm="agent"`)
		http.Error(w, "unauthorized", http.StatusUnauthorized)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(stateDocument(state.version))
}

// accounts are the credentials that all agents accept.
type accounts struct {
	mu       sync.Mutex
	accepted []core.Credentials
}

func (a *accounts) accept(credentials ...core.Credentials) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.accepted = credentials
}

func (a *accounts) authorize(r *http.Request) bool {
	username, password, _ := r.BasicAuth()
	given, err := core.NewCredentials(username, password)
	if err != nil {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Contains(a.accepted, given)
}
