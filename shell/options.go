package shell

import (
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// DefaultDriftInterval is the time between two complete re-reads of the pod store.
const DefaultDriftInterval = 60 * time.Second

// Option changes how a Component is made.
type Option func(*options)

type options struct {
	config        core.Config
	driftInterval time.Duration
	prober        Prober
	observers     []Observer

	// reduce is core.Reduce, but for the test of what happens when it panics.
	reduce func(core.State, core.Input) (core.State, []core.Effect)
}

// WithConfig sets the numbers of the rules, the agent's container name and scheme. New panics if
// config.Validate returns an error.
func WithConfig(config core.Config) Option { return func(o *options) { o.config = config } }

// WithDriftInterval sets the time between two complete re-reads of the pod store; 0 or less means
// never.
func WithDriftInterval(interval time.Duration) Option {
	return func(o *options) { o.driftInterval = interval }
}

// WithProber sets what performs the probes: an effects.Prober with TLS files, for instance.
func WithProber(prober Prober) Option { return func(o *options) { o.prober = prober } }

// WithObserver adds an observer: a recorder, metrics.
func WithObserver(observer Observer) Option {
	return func(o *options) { o.observers = append(o.observers, observer) }
}
