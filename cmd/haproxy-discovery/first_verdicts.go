package main

import (
	"context"
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
}

func newFirstVerdicts() *firstVerdicts { return &firstVerdicts{reached: make(chan struct{})} }

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
		f.once.Do(func() { close(f.reached) })
	}
}

// Taken implements shell.Observer.
func (*firstVerdicts) Taken(time.Time, core.Input) {}

// Problem implements shell.Observer.
func (*firstVerdicts) Problem(shell.Problem) {}
