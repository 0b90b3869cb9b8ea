package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/haproxy-discovery/haproxy-discovery/shell/kubernetes/e2e/internal/testbed"
)

// shown is what /debug/fleet says of the cluster.
type shown struct {
	FleetSize int     `json:"fleet_size"`
	ViewAge   float64 `json:"view_age_seconds"`
	Audit     struct {
		Verified string `json:"verified_time"`
		Lost     int    `json:"lost_views"`
	}
	Sources []struct{ Kind, Name, State, Error string }
}

// Whatever is wrong with the cluster is seen over HTTP while it lasts, and no longer; the fleet
// stands meanwhile.
func TestTroubleIsShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	proxy := newProxy(t, w)
	pods := w.launchMany(2)
	address := testbed.NewAddress() + ":8080"
	d := w.discoverAs(testbed.Access{Server: proxy.Address()}, "--listen", address,
		"--leader-elect", "--leader-elect-identity", "this")
	d.AwaitPods(pods...)
	expect := func(what string, pods, credentials, leadership string) {
		t.Helper()
		testbed.Eventually(t, what, func() bool {
			view := w.fleetAt(address)
			if view.FleetSize != 2 || len(view.Sources) != 3 {
				t.Fatalf("%s: shown is %+v", what, view)
			}
			for i, part := range []string{pods, credentials, leadership} {
				source := view.Sources[i]
				text := fmt.Sprintf("%s, %s: %s, %q", source.Kind, source.Name, source.State, source.Error)
				if !strings.Contains(text, part) {
					return false
				}
			}
			return true
		})
	}
	const goodPods, goodCredentials = `: connected, ""`, secretName + `: connected, ""`
	expect("all is well", goodPods, goodCredentials, `: this replica leads, ""`)

	check(t, w.client.CoreV1().Secrets(w.namespace).Delete(w.ctx, secretName, metav1.DeleteOptions{}))
	expect("the Secret is gone", goodPods, "does not exist", `leads, ""`)
	w.createSecret()
	expect("it is back", goodPods, goodCredentials, `leads, ""`)

	proxy.Cut()
	expect("the server is out of reach", "out of contact, \"", "out of contact, \"", "is the API server up")
	testbed.Eventually(t, "a view that grows old", func() bool { return w.fleetAt(address).ViewAge > 1 })
	for _, sample := range []string{
		`source_up{source="pods"} 0`, `source_up{source="credentials"} 0`,
		`source_up{source="leadership"} 0`, "fleet_size 2",
	} {
		if metrics := w.get("http://" + address + "/metrics"); !strings.Contains(metrics, sample) {
			t.Errorf("the metrics lack %s", sample)
		}
	}
	check(t, proxy.Restore())
	expect("it is back in reach", goodPods, goodCredentials, `this replica leads, ""`)
	if age := w.fleetAt(address).ViewAge; age != 0 {
		t.Errorf("in contact, the view is %v s old", age)
	}
}

func (w *world) fleetAt(address string) (view shown) {
	w.t.Helper()
	check(w.t, json.Unmarshal([]byte(w.get("http://"+address+"/debug/fleet")), &view))
	return view
}

func (w *world) get(url string) string {
	w.t.Helper()
	response, err := http.Get(url)
	check(w.t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	check(w.t, err)
	return string(text)
}
