package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/cmd/haproxy-discovery/internal/credentialsdir"
	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell"
)

// credentialsInterval is the time between two looks at the credentials directory.
const credentialsInterval = time.Second

// credentialsFeed feeds a component from the files of a directory.
type credentialsFeed struct {
	dir    string
	first  core.Credentials
	logger *slog.Logger
}

func openCredentialsDir(dir string, logger *slog.Logger) (*credentialsFeed, error) {
	credentials, err := credentialsdir.Read(dir)
	if err != nil {
		return nil, usagef("--credentials-dir: %w", err)
	}
	return &credentialsFeed{dir: dir, first: credentials, logger: logger}, nil
}

// attach tells the credentials and follows the directory; what is invalid there is logged, and the
// old credentials stay in use (R27).
func (f *credentialsFeed) attach(component *shell.Component) activity {
	component.HandleEvent(core.CredentialsUpdated{Credentials: f.first})
	return func(ctx context.Context) error {
		credentialsdir.Watch(ctx, f.dir, credentialsInterval, f.first,
			func(updated core.Credentials) {
				f.logger.Info("credentials changed", "username", updated.Username())
				component.HandleEvent(core.CredentialsUpdated{Credentials: updated})
			},
			func(err error) {
				f.logger.Error("credentials unreadable, the old ones stay in use", "error", err)
			})
		return nil
	}
}
