package main

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell"
	"github.com/haproxy-discovery/haproxy-discovery/shell/inputlog"
	"github.com/haproxy-discovery/haproxy-discovery/shell/recording"
)

// openRecorder gives the option that records to a file, none where path is empty. Recording that
// has to stop later is loud; discovery goes on without it (R28).
func openRecorder(path string, config core.Config, logger *slog.Logger) ([]shell.Option, error) {
	if path == "" {
		return nil, nil
	}
	run := inputlog.Run{Build: buildText(), Started: time.Now(), Config: config}
	writer, err := inputlog.Open(path, run, func(err error) {
		logger.Error("recording has stopped; discovery goes on", "file", path, "error", err)
	})
	if err != nil {
		return nil, usage(fmt.Errorf("--record: %w", err))
	}
	return []shell.Option{shell.WithObserver(recording.New(writer))}, nil
}
