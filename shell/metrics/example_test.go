package metrics_test

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/haproxy-discovery/haproxy-discovery/shell"
	"github.com/haproxy-discovery/haproxy-discovery/shell/metrics"
)

// Metrics observe a component and are registered like any collector.
func Example() {
	counted := metrics.New()
	_ = shell.New(nil, nil, shell.WithObserver(counted))

	registry := prometheus.NewRegistry()
	registry.MustRegister(counted)
	families, err := registry.Gather()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, family := range families {
		if family.GetName() == "haptic_discovery_fleet_size" {
			fmt.Println(family.GetName(), family.GetMetric()[0].GetGauge().GetValue())
		}
	}
	// Output: haptic_discovery_fleet_size 0
}
