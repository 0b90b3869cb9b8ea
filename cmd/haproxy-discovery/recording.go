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

// openRecorder gives the observer that records to a file, nil where path is empty. Recording that
// has to stop later is loud; discovery goes on without it (R28).
func openRecorder(path string, config core.Config, logger *slog.Logger) (*recording.Recorder, error) {
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
	return recording.New(writer), nil
}

// recordWith gives the option for a recorder, none for nil.
func recordWith(recorder *recording.Recorder) []shell.Option {
	if recorder == nil {
		return nil
	}
	return []shell.Option{shell.WithObserver(recorder)}
}
