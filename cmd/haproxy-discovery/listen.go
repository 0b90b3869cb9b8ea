package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/spf13/pflag"

	"github.com/haproxy-discovery/haproxy-discovery/shell"
	"github.com/haproxy-discovery/haproxy-discovery/shell/metrics"
	"github.com/haproxy-discovery/haproxy-discovery/shell/recording"
	"github.com/haproxy-discovery/haproxy-discovery/shell/status"
	"github.com/haproxy-discovery/haproxy-discovery/shell/timeline"
)

// staleView is how long the pods may go unheard of before the page warns; the alert rules do so, too.
const staleView = 2 * time.Minute

func addListenFlag(set *pflag.FlagSet, address *string) {
	set.StringVar(address, "listen", "",
		"serve the status page, /metrics, /healthz, /readyz and /debug/fleet on `ADDR`, as in 127.0.0.1:8080")
}

// statusServer is what --listen adds to a command: observers of the component, and a server. Its
// options, violated and followChecks may be called on nil, for a command without the flag.
type statusServer struct {
	listener net.Listener
	page     *status.Page
	metrics  *metrics.Metrics
}

// listen takes the address, so that one that is taken ends the program before anything has begun;
// nil where it is empty.
func listen(address string) (*statusServer, error) {
	if address == "" {
		return nil, nil
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, usagef("--listen %q: %w", address, bareReason(err))
	}
	counted := metrics.New()
	registry := prometheus.NewRegistry()
	registry.MustRegister(counted, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	page := status.New(status.Options{
		Metrics:    promhttp.HandlerFor(registry, promhttp.HandlerOpts{}),
		StaleAfter: staleView,
		Build:      "haproxy-discovery " + buildText(),
	})
	return &statusServer{listener: listener, page: page, metrics: counted}, nil
}

// bareReason leaves out what the flag's own name and value tell.
func bareReason(err error) error {
	var operation *net.OpError
	if errors.As(err, &operation) {
		err = operation.Err
	}
	var call *os.SyscallError
	if errors.As(err, &call) {
		err = call.Err
	}
	return err
}

func (s *statusServer) options() []shell.Option {
	if s == nil {
		return nil
	}
	return []shell.Option{shell.WithObserver(s.page), shell.WithObserver(s.metrics)}
}

// violated counts a violation of an invariant for the metrics.
func (s *statusServer) violated(invariant string) {
	if s != nil {
		s.metrics.InvariantViolated(invariant)
	}
}

// followChecks shows how many steps were left unchecked.
func (s *statusServer) followChecks(checks metrics.Checks) {
	if s != nil {
		s.metrics.FollowChecks(checks)
	}
}

// follow shows how things stand with where inputs come from, and when that of the pods was last heard
// of.
func (s *statusServer) follow(sources func() []timeline.Source, lastContact func() time.Time) {
	for _, times := range []*timeline.Timeline{s.page.Timeline, s.metrics.Timeline} {
		times.FollowSources(sources)
		times.FollowStore(lastContact)
	}
}

// serving is the activity that serves until its context ends. The recorder may be nil.
func (s *statusServer) serving(
	recorder *recording.Recorder, logger *slog.Logger,
) func(context.Context) error {
	if recorder != nil {
		s.metrics.FollowInputLog(recorder)
	}
	logger.Info("serving HTTP", "address", s.listener.Addr().String())
	return func(ctx context.Context) error { return status.Serve(ctx, s.listener, s.page, logger) }
}
