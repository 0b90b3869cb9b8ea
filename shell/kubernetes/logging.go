package kubernetes

import (
	"context"
	"log/slog"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
)

// LogClientTo makes the logger that of client-go, for this whole process. What client-go has to say at
// a verbosity of its own is left out: that shows whole answers, Secrets too (R26).
func LogClientTo(logger *slog.Logger) { klog.SetSlogLogger(slog.New(terse{logger.Handler()})) }

// quiet is the logger of a client whose troubles are told by this package, in better words: it logs at
// debug.
func quiet(logger *slog.Logger) klog.Logger {
	return logr.FromSlogHandler(debugHandler{logger.Handler()})
}

// terse leaves out what is below info, which is how verbosity arrives.
type terse struct{ slog.Handler }

func (h terse) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelInfo && h.Handler.Enabled(ctx, level)
}

func (h terse) WithAttrs(attrs []slog.Attr) slog.Handler { return terse{h.Handler.WithAttrs(attrs)} }

func (h terse) WithGroup(name string) slog.Handler { return terse{h.Handler.WithGroup(name)} }

// debugHandler does so, too, and lowers the level of the rest to debug.
type debugHandler struct{ slog.Handler }

func (h debugHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelInfo && h.Handler.Enabled(ctx, slog.LevelDebug)
}

func (h debugHandler) Handle(ctx context.Context, record slog.Record) error {
	if !h.Handler.Enabled(ctx, slog.LevelDebug) {
		return nil // errors are handed in without asking
	}
	record.Level = slog.LevelDebug
	return h.Handler.Handle(ctx, record)
}

func (h debugHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return debugHandler{h.Handler.WithAttrs(attrs)}
}

func (h debugHandler) WithGroup(name string) slog.Handler {
	return debugHandler{h.Handler.WithGroup(name)}
}

func orDiscard(logger *slog.Logger) *slog.Logger {
	if logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return logger
}
