package status_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/haproxy-discovery/haproxy-discovery/shell"
	"github.com/haproxy-discovery/haproxy-discovery/shell/metrics"
	"github.com/haproxy-discovery/haproxy-discovery/shell/status"
	"github.com/haproxy-discovery/haproxy-discovery/shell/timeline"
)

// A program that embeds discovery mounts the status page and the metrics on its own mux.
func Example() {
	times := timeline.New()
	counted := metrics.New(times)
	component := shell.New(nil, nil, shell.WithObserver(times), shell.WithObserver(counted))
	counted.FollowSubscribers(component.Subscriptions)
	registry := prometheus.NewRegistry()
	registry.MustRegister(counted)

	mux := http.NewServeMux()
	mux.Handle("/discovery/", http.StripPrefix("/discovery", status.NewHandler(status.Options{
		Component:  component,
		Timeline:   times,
		Metrics:    promhttp.HandlerFor(registry, promhttp.HandlerOpts{}),
		StaleAfter: 3 * shell.DefaultDriftInterval,
	})))
	server := httptest.NewServer(mux)
	defer server.Close()

	response, err := server.Client().Get(server.URL + "/discovery/readyz")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer response.Body.Close()
	line, _ := io.ReadAll(response.Body)
	fmt.Print(response.StatusCode, " ", string(line))
	// Output: 503 not ready: waiting for config, credentials, pod store, sync
}
