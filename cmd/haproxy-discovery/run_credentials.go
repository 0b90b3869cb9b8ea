package main

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/cmd/haproxy-discovery/internal/credentialsdir"
	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell"
	"github.com/haproxy-discovery/haproxy-discovery/shell/timeline"
)

// credentialsInterval is the time between two looks at the credentials directory.
const credentialsInterval = time.Second

// credentialsFeed feeds a component from the files of a directory.
type credentialsFeed struct {
	dir    string
	first  core.Credentials
	logger *slog.Logger

	mu      sync.Mutex
	problem string
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
func (f *credentialsFeed) attach(component *shell.Component) task {
	component.HandleEvent(core.CredentialsUpdated{Credentials: f.first})
	return task{f.shown().Name, func(ctx context.Context) error {
		credentialsdir.Watch(ctx, f.dir, credentialsInterval, f.first,
			func(updated core.Credentials) {
				f.logger.Info("credentials changed", "username", updated.Username())
				component.HandleEvent(core.CredentialsUpdated{Credentials: updated})
			},
			f.tell)
		return nil
	}}
}

// tell takes down what is wrong with the directory; nil if nothing is any more.
func (f *credentialsFeed) tell(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil {
		f.problem = ""
		f.logger.Info("credentials readable again", "directory", f.dir)
		return
	}
	f.problem = err.Error()
	f.logger.Error("credentials unreadable, the old ones stay in use", "error", err)
}

// shown is the directory on the status page and in the metrics.
func (f *credentialsFeed) shown() timeline.Source {
	f.mu.Lock()
	defer f.mu.Unlock()
	return timeline.Source{
		Kind: timeline.CredentialSource, Name: "credentials in " + f.dir, State: "followed",
		Error: f.problem,
	}
}
