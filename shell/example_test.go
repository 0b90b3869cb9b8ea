package shell_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell"
)

// A program that embeds discovery: it tells the component what it knows, reads events, and stops.
func Example() {
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprint(w, `{"api_version":1,"haproxy":{"version":"3.4.3"}}`)
	}))
	defer agent.Close()
	address := agent.Listener.Addr().(*net.TCPAddr)

	component := shell.New(nil, nil)
	events := component.Subscribe("deployer")
	credentials, err := core.NewCredentials("admin", "secret")
	if err != nil {
		fmt.Println(err)
		return
	}
	component.HandleEvent(core.ConfigValidated{AgentPort: address.Port, PodSelector: "app=haproxy"})
	component.HandleEvent(core.CredentialsUpdated{Credentials: credentials})
	component.SetPodStore(shell.PodSlice{examplePod(address.IP.String())})

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var running sync.WaitGroup
	running.Go(func() {
		if err := component.Start(ctx); err != nil {
			fmt.Println(err)
		}
	})
	delivery, err := events.Next(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	for endpoint := range delivery.Event.(core.HAProxyPodsDiscovered).Fleet.All() {
		fmt.Println(endpoint.Key(), "runs HAProxy", endpoint.Version.Text)
	}
	cancel()
	running.Wait()
	// Output: lb/hap-0 runs HAProxy 3.4.3
}

func examplePod(ip string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{
			"namespace": "lb", "name": "hap-0", "uid": "u0", "labels": map[string]any{"app": "haproxy"},
		},
		"status": map[string]any{"phase": "Running", "podIP": ip, "containerStatuses": []any{
			map[string]any{"name": "agent", "containerID": "c0", "state": map[string]any{
				"running": map[string]any{},
			}},
		}},
	}}
}
