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
)

// A program that embeds discovery mounts the status page and the metrics on its own mux.
func Example() {
	counted := metrics.New()
	registry := prometheus.NewRegistry()
	registry.MustRegister(counted)

	page := status.New(status.Options{
		Metrics:    promhttp.HandlerFor(registry, promhttp.HandlerOpts{}),
		StaleAfter: 3 * shell.DefaultDriftInterval,
	})
	_ = shell.New(nil, nil, shell.WithObserver(counted), shell.WithObserver(page))

	mux := http.NewServeMux()
	mux.Handle("/discovery/", http.StripPrefix("/discovery", page))
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
