package main

import (
	"io"
	"log/slog"
	"os"

	"github.com/haproxy-discovery/haproxy-discovery/cmd/haproxy-discovery/internal/output"
)

// newLogger logs to standard error, level by name.
func newLogger(w io.Writer, level string) (*slog.Logger, error) {
	var parsed slog.Level
	if err := parsed.UnmarshalText([]byte(level)); err != nil {
		return nil, usagef("--log-level %q is none of debug, info, warn, error", level)
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: parsed})), nil
}

// formatOf gives the output format of the -o flag; its default is text for people, JSON for
// programs.
func formatOf(flag string, out io.Writer) (output.Format, error) {
	if flag == "" {
		if file, isFile := out.(*os.File); isFile {
			if info, err := file.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
				return output.Text, nil
			}
		}
		return output.JSON, nil
	}
	format, err := output.ParseFormat(flag)
	if err != nil {
		return "", usagef("--output: %w", err)
	}
	return format, nil
}
