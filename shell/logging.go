package shell

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// logging is the observer that New installs: problems and refused inputs as warnings, events and
// steps at debug. Nothing it prints holds a secret; core's types see to that.
type logging struct{ logger *slog.Logger }

func (logging) Taken(time.Time, core.Input) {}

func (l logging) Reduced(step Step) {
	if !l.logger.Enabled(context.Background(), slog.LevelDebug) {
		return
	}
	l.logger.Debug("step", "seq", step.Seq, "input", fmt.Sprintf("%T", step.Input),
		"effects", len(step.Effects), "took", step.Took)
	for _, effect := range step.Effects {
		if publish, is := effect.(core.Publish); is {
			l.event(publish.Event)
		}
	}
}

func (l logging) event(event core.Event) {
	switch e := event.(type) {
	case core.HAProxyPodsDiscovered:
		l.logger.Debug("fleet published", "generation", e.Generation, "trigger", e.Trigger,
			"endpoints", e.Fleet.Len(), "added", len(e.Added), "updated", len(e.Updated),
			"removed", len(e.Removed), "replay", e.Replay, "credentials_changed", e.CredentialsChanged)
	case core.HAProxyPodTerminated:
		l.logger.Debug("pod terminated", "pod", e.Key(), "uid", e.UID, "url", e.URL, "cause", e.Cause)
	case core.HAProxyPodRejected:
		l.logger.Debug("pod rejected", "pod", e.Key(), "uid", e.UID, "reason", e.Reason,
			"cause", e.Cause, "detail", e.Detail, "attempt", e.Attempt, "retry_in", e.RetryIn)
	}
}

func (l logging) Problem(problem Problem) {
	level := slog.LevelWarn
	if problem.Kind == SubscriberDropped { // events were lost
		level = slog.LevelError
	}
	l.logger.Log(context.Background(), level, string(problem.Kind), "error", problem.Err)
}

// guardedHandler loses the lines at which a handler panics, and no more than those: what logs must
// not end the program.
type guardedHandler struct{ slog.Handler }

func (h guardedHandler) Handle(ctx context.Context, record slog.Record) (err error) {
	return errors.Join(guarded(func() { err = h.Handler.Handle(ctx, record) }), err)
}

func (h guardedHandler) Enabled(ctx context.Context, level slog.Level) (enabled bool) {
	_ = guarded(func() { enabled = h.Handler.Enabled(ctx, level) })
	return enabled
}

func (h guardedHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return guardedHandler{h.Handler.WithAttrs(attrs)}
}

func (h guardedHandler) WithGroup(name string) slog.Handler {
	return guardedHandler{h.Handler.WithGroup(name)}
}
