package browser

import (
	"context"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell"
	"github.com/haproxy-discovery/haproxy-discovery/shell/internal/loopback"
	"github.com/haproxy-discovery/haproxy-discovery/shell/status"
)

// patience bounds every wait for a condition.
const patience = time.Minute

// site is a running component with its status page, whose server can be restarted.
type site struct {
	*shell.Component
	t       *testing.T
	store   *loopback.Store
	agents  *loopback.Agents
	page    *status.Page
	address string
	stop    func()
}

// newSite runs a component over pods whose agents are healthy on 127.77.0.1 and absent elsewhere.
func newSite(t *testing.T, pods ...*unstructured.Unstructured) *site {
	t.Helper()
	s := &site{t: t, store: loopback.NewStore(pods...), agents: loopback.NewAgents(t), address: "127.0.0.1:0"}
	s.agents.Start("127.77.0.1", loopback.Healthy("3.4.3"))
	s.page = status.New(status.Options{StaleAfter: time.Hour, Build: "browser test"})
	s.Component = shell.New(nil, nil, shell.WithDriftInterval(0), shell.WithObserver(s.page),
		shell.WithConfig(core.Config{RetryDelay: 20 * time.Second, MaxRetryDelay: 30 * time.Second}))
	s.HandleEvent(core.ConfigValidated{AgentPort: s.agents.Port})
	s.HandleEvent(core.CredentialsUpdated{Credentials: loopback.Credentials()})
	s.SetPodStore(s.store)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := s.Start(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		s.stop()
		cancel()
		running.Wait()
	})
	s.serve()
	s.await("the verdicts", func(state core.State) bool {
		return state.GateOpen() && !state.FirstAttemptsPending()
	})
	return s
}

// serve starts the server, after a stop on the same address.
func (s *site) serve() {
	s.t.Helper()
	listener, err := net.Listen("tcp", s.address)
	if err != nil {
		s.t.Fatal(err)
	}
	s.address = listener.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := status.Serve(ctx, listener, s.page, nil); err != nil {
			s.t.Error(err)
		}
	})
	s.stop = func() {
		cancel()
		serving.Wait()
	}
}

func (s *site) await(what string, condition func(core.State) bool) {
	s.t.Helper()
	for deadline := time.Now().Add(patience); !condition(s.page.Now().State); {
		if time.Now().After(deadline) {
			s.t.Fatalf("waited in vain for %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (s *site) changed(keys ...core.PodKey) {
	s.HandleEvent(shell.ResourceIndexUpdated{Resource: core.HAProxyPods, Keys: keys})
}

// thousand are 990 pods with healthy agents and 10 whose agents refuse.
func thousand() []*unstructured.Unstructured {
	pods := make([]*unstructured.Unstructured, 1000)
	for i := range pods {
		ip := "127.77.0.1"
		if i%100 == 7 {
			ip = "127.77.0.9"
		}
		pods[i] = loopback.Pod(fmt.Sprintf("haproxy-%04d", i), fmt.Sprintf("uid-%d", i), ip)
	}
	return pods
}
