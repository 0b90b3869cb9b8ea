package manager_test

import (
	"context"
	"testing"
	"time"

	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell"
)

// patience bounds the wait for a condition.
const patience = 20 * time.Second

var (
	_ manager.Runnable               = (*shell.Component)(nil)
	_ manager.LeaderElectionRunnable = (*shell.Component)(nil)
)

type healthy struct{}

func (healthy) Probe(context.Context, core.StartProbe) core.Outcome {
	return core.Answer{Version: "3.4.3"}
}

// R19: a component that was added to a manager discovers though another replica leads, or none, and
// ends with the manager.
func TestFollowersDiscover(t *testing.T) {
	before := goleak.IgnoreCurrent()
	mgr, err := manager.New(&rest.Config{Host: "https://127.0.0.1:1"}, manager.Options{ // nobody is there: it never leads
		LeaderElection: true, LeaderElectionID: "controller", LeaderElectionNamespace: "lb",
		Metrics: server.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
	})
	check(t, err)
	component := shell.New(nil, nil, shell.WithProber(healthy{}))
	credentials, err := core.NewCredentials("admin", "s3cret-value")
	check(t, err)
	component.HandleEvent(core.ConfigValidated{AgentPort: 5555})
	component.HandleEvent(core.CredentialsUpdated{Credentials: credentials})
	component.SetPodStore(shell.PodSlice{pod()})
	check(t, mgr.Add(component))

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	for deadline := time.Now().Add(patience); component.State().Admitted().Len() != 1; {
		if time.Now().After(deadline) {
			t.Fatalf("no fleet on a follower: %v", component.Ping(ctx))
		}
		time.Sleep(5 * time.Millisecond)
	}
	select {
	case <-mgr.Elected():
		t.Error("the manager leads")
	default:
	}

	stop()
	select {
	case err := <-ended:
		check(t, err)
	case <-time.After(patience):
		t.Fatal("the manager has not ended")
	}
	if err := component.Ping(context.Background()); err != shell.ErrNotRunning {
		t.Errorf("the component after the end of the manager: %v", err)
	}
	goleak.VerifyNone(t, before)
}

func pod() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"namespace": "lb", "name": "hap-0", "uid": "u0"},
		"status": map[string]any{
			"phase": "Running", "podIP": "10.1.0.10",
			"containerStatuses": []any{
				map[string]any{"name": "agent", "state": map[string]any{"running": map[string]any{}}},
			},
		},
	}}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
