package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
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
	writer, err := inputlog.Open(path, run, func(n inputlog.Notice) {
		attributes := []any{"file", path}
		if n.Err != nil {
			attributes = append(attributes, "error", n.Err)
		}
		logger.Log(context.Background(), n.Level, n.Text, attributes...)
	})
	if err != nil {
		return nil, usage(fmt.Errorf("--record: %w", err))
	}
	reopenOnHangup(writer)
	return recording.New(writer), nil
}

// reopenOnHangup has SIGHUP reopen the log, as those who rotate logs expect it. It does not end a
// program that records.
func reopenOnHangup(writer *inputlog.Writer) {
	hangups := make(chan os.Signal, 1)
	signal.Ignore(syscall.SIGHUP) // whoever else hears of it would end the program
	signal.Notify(hangups, syscall.SIGHUP)
	go func() {
		for range hangups {
			writer.Reopen()
		}
	}()
}

// recordWith gives the option for a recorder, none for nil.
func recordWith(recorder *recording.Recorder) []shell.Option {
	if recorder == nil {
		return nil
	}
	return []shell.Option{shell.WithObserver(recorder)}
}
