package status

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// serveGrace is how long requests under way may take at the end; a shutdown has a second in all.
const serveGrace = 500 * time.Millisecond

// Serve answers requests until ctx ends, and returns nil then, within half a second: open streams
// are ended, requests under way finished, what takes longer is cut off. Any other error means that
// the listener has failed. It closes the listener. The logger may be nil.
func Serve(
	ctx context.Context, listener net.Listener, handler http.Handler, logger *slog.Logger,
) error {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	server := &http.Server{
		Handler:           handler,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      30 * time.Second, // a stream sets its own for each message
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serving HTTP on %s: %w", listener.Addr(), err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.Background(), serveGrace)
	defer cancel()
	if err := server.Shutdown(grace); err != nil {
		_ = server.Close()
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving HTTP on %s: %w", listener.Addr(), err)
	}
	return nil
}
