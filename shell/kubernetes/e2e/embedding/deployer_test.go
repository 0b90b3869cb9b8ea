package embedding

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

const patience = time.Minute

// A request that an agent does not answer ends with the authority to send it: with the endpoint,
// and with the term, before the lease is given up.
func TestRequestUnderWayEndsWithItsAuthority(t *testing.T) {
	for name, end := range map[string]func(*deployer, core.Identity){
		"terminated": func(d *deployer, identity core.Identity) {
			d.handle(core.HAProxyPodTerminated{Identity: identity})
		},
		"lease given up": func(d *deployer, _ core.Identity) {
			lock := lease{&heldLock{t: t, d: d}, d.rest}
			if err := lock.Update(t.Context(), resourcelock.LeaderElectionRecord{}); err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			arrived, ended := make(chan struct{}), make(chan struct{})
			agent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body) // else the server does not look for the end
				close(arrived)
				select {
				case <-r.Context().Done():
					close(ended)
				case <-t.Context().Done():
				}
			}))
			t.Cleanup(agent.Close) // t's context has ended then
			identity := core.Identity{Namespace: "lb", Name: "hap-0", UID: "u0", URL: agent.URL}
			credentials, err := core.NewCredentials("admin", "pass-word-1")
			if err != nil {
				t.Fatal(err)
			}
			d := newDeployer("test", slog.New(slog.DiscardHandler))
			d.lead(t.Context())
			d.handle(core.HAProxyPodsDiscovered{
				Fleet: core.NewFleet(credentials, core.Endpoint{Identity: identity}),
			})
			d.handle(Configuration("1"))
			await(t, "the request", arrived)
			connection := d.connections[identity]

			end(d, identity)
			select {
			case <-connection.ended:
			default:
				t.Error("the connection goes on")
			}
			await(t, "the end of the request", ended)
			if len(d.connections) != 0 {
				t.Errorf("%d connections are left", len(d.connections))
			}
		})
	}
}

// heldLock must not be given up while anybody is written to.
type heldLock struct {
	resourcelock.Interface
	t *testing.T
	d *deployer
}

func (l *heldLock) Update(context.Context, resourcelock.LeaderElectionRecord) error {
	if len(l.d.connections) != 0 {
		l.t.Error("the lease is given up while a request is under way")
	}
	return nil
}

func await(t *testing.T, what string, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatalf("%s: not within %v", what, patience)
	}
}
