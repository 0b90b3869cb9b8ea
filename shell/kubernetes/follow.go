package kubernetes

import (
	"context"
	"log/slog"
	"sync"

	"github.com/go-logr/logr"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// follow runs an informer until ctx ends, and calls synced once, when its initial list is complete.
func follow(
	ctx context.Context, informer cache.SharedIndexInformer, lw *listWatch,
	logger *slog.Logger, synced func(),
) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var running sync.WaitGroup
	running.Go(func() {
		select {
		case <-ctx.Done():
		case <-informer.HasSyncedChecker().Done():
			lw.contact.markSynced()
			synced()
		}
	})
	informer.RunWithContext(klog.NewContext(ctx, quiet(logger)))
	cancel()
	running.Wait()
	return nil
}

// quiet is a logger for client-go, whose messages are told better by ourselves: at debug. What it says
// at a verbosity of its own is left out; it would hold whole objects, Secrets too (R26).
func quiet(logger *slog.Logger) klog.Logger {
	return logr.FromSlogHandler(debugHandler{logger.Handler()})
}

// debugHandler lowers the level of whatever is logged to debug.
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
