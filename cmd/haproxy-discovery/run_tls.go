package main

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/effects"
	"github.com/haproxy-discovery/haproxy-discovery/shell/timeline"
)

// tlsInterval is the time between two looks at the TLS files. Probes look by themselves, but where all
// agents are admitted there may be none until the next rollout.
const tlsInterval = time.Second

// tlsFiles tells of TLS files that cannot be used as they are now: a certificate renewed by half.
type tlsFiles struct {
	prober *effects.Prober
	logger *slog.Logger

	mu      sync.Mutex
	problem string
}

// watch looks at the files until ctx ends.
func (f *tlsFiles) watch(ctx context.Context) error {
	tick := time.NewTicker(tlsInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			f.look()
		}
	}
}

func (f *tlsFiles) look() {
	problem := ""
	if err := f.prober.TLSProblem(); err != nil {
		problem = oneLine(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case problem == f.problem:
	case problem == "":
		f.logger.Info("TLS files of agents usable again")
	default:
		f.logger.Error("TLS files of agents not wholly usable, what was read last stays in use", "error", problem)
	}
	f.problem = problem
}

// shown is the files on the status page and in the metrics.
func (f *tlsFiles) shown() timeline.Source {
	f.mu.Lock()
	defer f.mu.Unlock()
	return timeline.Source{
		Kind: timeline.AgentTLSSource, Name: "TLS files of agents", State: "followed", Error: f.problem,
	}
}
