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

// staleIntervals is how many drift intervals without a look at the pods make the page warn.
const staleIntervals = 3

func addListenFlag(set *pflag.FlagSet, address *string) {
	set.StringVar(address, "listen", "",
		"serve the status page, /metrics, /healthz, /readyz and /debug/fleet on `ADDR`, as in 127.0.0.1:8080")
}

// watch is what --listen adds to a command: observers of the component, and a server. Its
// options and violated may be called on nil, for a command without the flag.
type watch struct {
	listener net.Listener
	times    *timeline.Timeline
	metrics  *metrics.Metrics
}

// listen takes the address, so that one that is taken ends the program before anything has begun;
// nil where it is empty.
func listen(address string) (*watch, error) {
	if address == "" {
		return nil, nil
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, usagef("--listen %s: %w", address, bareReason(err))
	}
	times := timeline.New()
	return &watch{listener: listener, times: times, metrics: metrics.New(times)}, nil
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

func (w *watch) options() []shell.Option {
	if w == nil {
		return nil
	}
	return []shell.Option{shell.WithObserver(w.times), shell.WithObserver(w.metrics)}
}

// violated counts a violation of an invariant for the metrics.
func (w *watch) violated(invariant string) {
	if w != nil {
		w.metrics.InvariantViolated(invariant)
	}
}

// follow shows what a feed knows of where its inputs come from.
func (w *watch) follow(feed feed) {
	w.times.FollowSources(feed.sources)
	if lastContact := feed.lastContact(); lastContact != nil {
		w.times.FollowStore(lastContact)
	}
}

// serving is the activity that serves until its context ends. The recorder may be nil.
func (w *watch) serving(
	component *shell.Component, recorder *recording.Recorder, driftInterval time.Duration,
	logger *slog.Logger,
) func(context.Context) error {
	w.metrics.FollowSubscribers(component.Subscriptions)
	if recorder != nil {
		w.metrics.FollowInputLog(recorder)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(w.metrics, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	handler := status.NewHandler(status.Sources{
		Component:  component,
		Timeline:   w.times,
		Metrics:    promhttp.HandlerFor(registry, promhttp.HandlerOpts{}),
		StaleAfter: staleIntervals * driftInterval,
		Build:      "haproxy-discovery " + buildText(),
	})
	logger.Info("serving HTTP", "address", w.listener.Addr().String())
	return func(ctx context.Context) error { return status.Serve(ctx, w.listener, handler, logger) }
}
