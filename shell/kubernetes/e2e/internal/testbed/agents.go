package testbed

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
)

// Agents are the agents of one fleet: real HTTP servers, each on an address of its own, all on one
// port and with the same credentials.
type Agents struct {
	port int
	tls  *tls.Config

	requests atomic.Int64
	mu       sync.Mutex
	username string
	password string
	running  map[*Agent]bool
}

// NewAgents finds a port for them. With a TLS configuration they serve https.
func NewAgents(config *tls.Config) (*Agents, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort(NewAddress(), "0"))
	if err != nil {
		return nil, err
	}
	defer listener.Close()
	port := listener.Addr().(*net.TCPAddr).Port
	return &Agents{port: port, tls: config, running: map[*Agent]bool{}}, nil
}

// Port is the port of all of them.
func (a *Agents) Port() int { return a.port }

// Requests is how many requests they have got, all in all.
func (a *Agents) Requests() int64 { return a.requests.Load() }

// Accept makes these the credentials that they ask for from now on.
func (a *Agents) Accept(username, password string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.username, a.password = username, password
}

// Close stops all of them.
func (a *Agents) Close() {
	a.mu.Lock()
	running := a.running
	a.running = map[*Agent]bool{}
	a.mu.Unlock()
	for agent := range running {
		_ = agent.server.Close()
	}
}

// Agent is one of them.
type Agent struct {
	IP     string
	agents *Agents
	server *http.Server

	mu             sync.Mutex
	answer         http.HandlerFunc
	configurations []Configuration
}

// Configuration is what an agent was given, and by whom, as the User-Agent says.
type Configuration struct{ Text, By string }

// Start returns once the agent listens. The answer is Running, Hung or another one.
func (a *Agents) Start(ip string, answer http.HandlerFunc) (*Agent, error) {
	address := net.JoinHostPort(ip, strconv.Itoa(a.port))
	listener, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("the agent's address %s is in use: %w", address, err)
	}
	if err != nil {
		return nil, err
	}
	if a.tls != nil {
		listener = tls.NewListener(listener, a.tls)
	}
	agent := &Agent{IP: ip, agents: a, answer: answer}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/state", a.authenticated(agent.serveState))
	mux.HandleFunc("POST /v1/configuration", a.authenticated(agent.takeConfiguration))
	agent.server = &http.Server{Handler: mux, ErrorLog: log.New(io.Discard, "", 0)}
	a.mu.Lock()
	a.running[agent] = true
	a.mu.Unlock()
	go func() { _ = agent.server.Serve(listener) }()
	return agent, nil
}

// Stop makes the address refuse connections.
func (a *Agent) Stop() error {
	a.agents.mu.Lock()
	delete(a.agents.running, a)
	a.agents.mu.Unlock()
	return a.server.Close()
}

// Answer changes the answers from now on.
func (a *Agent) Answer(answer http.HandlerFunc) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answer = answer
}

// Configurations are what the agent was given so far, in that order.
func (a *Agent) Configurations() []Configuration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.configurations)
}

func (a *Agents) authenticated(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		a.requests.Add(1)
		username, password, _ := r.BasicAuth()
		a.mu.Lock()
		known := username == a.username && password == a.password
		a.mu.Unlock()
		if !known {
			http.Error(w, "unauthorized", http.StatusUnauthorized)
			return
		}
		next(w, r)
	}
}

func (a *Agent) serveState(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	answer := a.answer
	a.mu.Unlock()
	answer(w, r)
}

func (a *Agent) takeConfiguration(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.configurations = append(a.configurations, Configuration{string(text), r.UserAgent()})
}

// Running is the answer of an agent whose HAProxy has this version; without one the agent does not
// know it yet.
func Running(version string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		document := map[string]any{"api_version": 1, "agent_version": "0.3.0", "haproxy": nil}
		if version != "" {
			document["haproxy"] = map[string]any{"version": version, "worker_pid": 42}
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(document)
	}
}

// Hung is the answer of an agent that takes requests and stays silent.
func Hung(_ http.ResponseWriter, r *http.Request) { await(r.Context()) }

func await(ctx context.Context) { <-ctx.Done() }
