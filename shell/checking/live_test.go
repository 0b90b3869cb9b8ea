package checking

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/effects"
	"github.com/haproxy-discovery/haproxy-discovery/shell"
)

// A component with a checker: every one of its steps is checked, and its end is the checker's.
func TestALiveComponentIsChecked(t *testing.T) {
	checker, log := newChecker(nil)
	steps := coldStart(t, 200, instant(), checker)
	if steps < 200 || checker.Checked() != uint64(steps) || checker.Unchecked() != 0 {
		t.Errorf("%d steps, %d checked, %d not", steps, checker.Checked(), checker.Unchecked())
	}
	if total(checker) != 0 || !strings.Contains(log.String(), "violations=0") {
		t.Errorf("violations %v, log:\n%s", checker.Violations(), log)
	}
}

// agents is who answers, and how: where a component finds them.
type agents struct {
	ip, port string
	option   shell.Option
}

// instant agents answer without a network.
func instant() agents {
	return agents{ip: "10.1.0.10", port: "5555", option: shell.WithProber(ready{})}
}

// overHTTP is one real agent on a loopback address, which all pods share.
func overHTTP(t testing.TB) agents {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprint(w, `{"api_version":1,"haproxy":{"version":"3.4.3"}}`)
	}))
	t.Cleanup(server.Close)
	ip, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return agents{ip: ip, port: port, option: shell.WithProber(realProber(t))}
}

func realProber(t testing.TB) shell.Prober {
	prober, err := effects.NewProber(effects.TLSFiles{})
	if err != nil {
		t.Fatal(err)
	}
	return prober
}

// coldStart runs a component until that many pods are published; it gives the number of its steps.
func coldStart(t testing.TB, pods int, agents agents, observers ...shell.Observer) (steps int) {
	counter := &stepCounter{}
	options := []shell.Option{
		agents.option, shell.WithDriftInterval(0), shell.WithObserver(counter),
	}
	for _, observer := range observers {
		options = append(options, shell.WithObserver(observer))
	}
	component := shell.New(nil, nil, options...)
	subscription := component.Subscribe("test")
	credentials, err := core.NewCredentials("admin", password)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(agents.port)
	if err != nil {
		t.Fatal(err)
	}
	component.HandleEvent(core.ConfigValidated{AgentPort: port})
	component.HandleEvent(core.CredentialsUpdated{Credentials: credentials})
	component.SetPodStore(podSlice(pods, agents.ip))
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var ended sync.WaitGroup
	ended.Go(func() {
		if err := component.Start(ctx); err != nil {
			t.Error(err)
		}
	})
	for {
		delivery, err := subscription.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		discovered, is := delivery.Event.(core.HAProxyPodsDiscovered)
		if is && discovered.Fleet.Len() == pods {
			break
		}
	}
	cancel()
	ended.Wait()
	return counter.steps
}

// ready is an agent that answers at once.
type ready struct{}

func (ready) Probe(context.Context, core.StartProbe) core.Outcome {
	return core.Answer{Version: "3.4.3"}
}

// stepCounter counts the steps of one component.
type stepCounter struct{ steps int }

func (*stepCounter) Taken(time.Time, core.Input) {}
func (s *stepCounter) Reduced(shell.Step)        { s.steps++ }
func (*stepCounter) Problem(shell.Problem)       {}

func podSlice(pods int, ip string) shell.PodSlice {
	slice := make(shell.PodSlice, 0, pods)
	for i := range pods {
		slice = append(slice, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Pod",
			"metadata": map[string]any{
				"namespace": "lb", "name": fmt.Sprintf("hap-%05d", i), "uid": fmt.Sprintf("u%d", i),
			},
			"status": map[string]any{
				"phase": "Running", "podIP": ip,
				"containerStatuses": []any{map[string]any{
					"name": "agent", "imageID": "i", "containerID": fmt.Sprintf("c%d", i),
					"state": map[string]any{"running": map[string]any{}},
				}},
			},
		}})
	}
	return slice
}
