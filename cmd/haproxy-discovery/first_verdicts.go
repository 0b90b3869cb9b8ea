package main

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell"
)

// firstVerdicts waits until every candidate's first attempt has a verdict and that was published:
// the end of `run --once`.
type firstVerdicts struct {
	reached chan struct{}
	once    sync.Once
	logger  *slog.Logger
}

func newFirstVerdicts(logger *slog.Logger) *firstVerdicts {
	return &firstVerdicts{reached: make(chan struct{}), logger: logger}
}

func (f *firstVerdicts) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
	case <-f.reached:
	}
	return nil
}

// Reduced implements shell.Observer.
func (f *firstVerdicts) Reduced(step shell.Step) {
	_, _, published := step.After.Published()
	if published && step.After.UnpublishedLen() == 0 && !step.After.FirstAttemptsPending() {
		f.once.Do(func() {
			f.tellIgnored(step.After)
			close(f.reached)
		})
	}
}

// tellIgnored names the pods that no event tells of (R1): who misses one finds out why.
func (f *firstVerdicts) tellIgnored(state core.State) {
	const named = 5
	ignored := map[core.Cause][]string{}
	for standing := range state.Standings() {
		if standing.Verdict.Kind == core.Ignored {
			cause := standing.Verdict.Cause
			ignored[cause] = append(ignored[cause], standing.Pod.Key.String())
		}
	}
	for _, cause := range slices.Sorted(maps.Keys(ignored)) {
		pods := ignored[cause]
		f.logger.Info("pods are left out", "cause", cause, "count", len(pods),
			"first", strings.Join(pods[:min(named, len(pods))], ", "))
	}
}

// Taken implements shell.Observer.
func (*firstVerdicts) Taken(time.Time, core.Input) {}

// Problem implements shell.Observer.
func (*firstVerdicts) Problem(shell.Problem) {}
