package main

import (
	"context"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/haproxy-discovery/haproxy-discovery/cmd/haproxy-discovery/internal/credentialsdir"
	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/effects"
	"github.com/haproxy-discovery/haproxy-discovery/shell"
)

// credentialsInterval is the time between two looks at the credentials directory.
const credentialsInterval = time.Second

type runFlags struct {
	podsFrom       string
	agentPort      int
	agentScheme    string
	agentTLS       effects.TLSFiles
	agentContainer string
	selector       string
	namespace      string
	credentialsDir string
	driftInterval  time.Duration
	record         string
	checked        bool
	once           bool
	output         string
	logLevel       string
}

func newRunCommand(std streams) *cobra.Command {
	var flags runFlags
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Follows a fleet and prints its events",
		Example: `  kubectl get pods -l app.kubernetes.io/component=loadbalancer -o json \
      --watch --output-watch-events |
    haproxy-discovery run --pods-from - --credentials-dir /etc/haproxy-discovery/credentials`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return flags.run(cmd.Context(), std) },
	}
	set := cmd.Flags()
	set.StringVar(&flags.podsFrom, "pods-from", "",
		"read pods from `FILE`, or - for standard input, as kubectl get pods -o json prints them")
	set.IntVar(&flags.agentPort, "agent-port", 5555, "port of the agents")
	set.StringVar(&flags.agentScheme, "agent-scheme", "http", "http or https")
	set.StringVar(&flags.agentTLS.CA, "agent-ca", "", "PEM file with the CA of the agents' certificates")
	set.StringVar(&flags.agentTLS.Certificate, "agent-cert", "", "PEM file with the client certificate")
	set.StringVar(&flags.agentTLS.Key, "agent-key", "", "PEM file with the client certificate's key")
	set.StringVar(&flags.agentContainer, "agent-container", "agent", "name of the agent's container")
	set.StringVarP(&flags.selector, "selector", "l", "", "label selector of the pods (default all pods given)")
	set.StringVarP(&flags.namespace, "namespace", "n", "", "namespace of the pods (default all pods given)")
	set.StringVar(&flags.credentialsDir, "credentials-dir", "",
		"directory with the files dataplane_username and dataplane_password")
	set.DurationVar(&flags.driftInterval, "drift-interval", shell.DefaultDriftInterval,
		"time between two complete looks at all pods; 0 for never")
	set.StringVar(&flags.record, "record", "", "record every input to a file, for replay")
	checkInvariantsFlag(cmd, &flags.checked)
	set.BoolVar(&flags.once, "once", false,
		"end when every candidate's first attempt has a verdict that was published")
	set.StringVarP(&flags.output, "output", "o", "", "json or text (default text on a terminal, else json)")
	set.StringVar(&flags.logLevel, "log-level", "info", "debug, info, warn or error")
	return cmd
}

// run checks everything that can be wrong before anything starts.
func (f *runFlags) run(ctx context.Context, std streams) error {
	logger, err := newLogger(std.err, f.logLevel)
	if err != nil {
		return err
	}
	format, err := formatOf(f.output, std.out)
	if err != nil {
		return err
	}
	if err := f.check(); err != nil {
		return err
	}
	credentials, err := credentialsdir.Read(f.credentialsDir)
	if err != nil {
		return usagef("--credentials-dir: %w", err)
	}
	prober, err := effects.NewProber(f.agentTLS)
	if err != nil {
		return usage(err)
	}
	pods, closePods, err := f.openPods(std.in)
	if err != nil {
		return err
	}
	defer closePods()
	config := core.Config{AgentContainer: f.agentContainer, AgentScheme: f.agentScheme}
	recorder, err := openRecorder(f.record, config, logger)
	if err != nil {
		return err
	}
	first := newFirstVerdicts()
	options := append(recorder, checkInvariants(f.checked, logger)...)
	component := shell.New(nil, logger, append(options,
		shell.WithConfig(config),
		shell.WithDriftInterval(f.driftInterval),
		shell.WithProber(prober),
		shell.WithObserver(first))...)
	component.HandleEvent(core.ConfigValidated{AgentPort: f.agentPort, PodSelector: f.selector})
	component.HandleEvent(core.CredentialsUpdated{Credentials: credentials})

	source := newPodSource(pods, f.namespace, component, logger)
	activities := []func(context.Context) error{
		source.run,
		func(ctx context.Context) error { return f.watchCredentials(ctx, component, credentials, logger) },
	}
	if f.once {
		activities = append(activities, first.wait)
	}
	return newProgram(component, std.out, format).run(ctx, activities...)
}

func (f *runFlags) check() error {
	switch {
	case f.podsFrom == "":
		return usagef("run: this build has no cluster source yet; give the pods with --pods-from FILE or -")
	case f.agentPort < 1 || f.agentPort > 65535:
		return usagef("--agent-port %d is not between 1 and 65535", f.agentPort)
	case f.agentContainer == "":
		return usagef("--agent-container is empty")
	case f.agentScheme != "http" && f.agentScheme != "https":
		return usagef("--agent-scheme %q is neither http nor https", f.agentScheme)
	case f.driftInterval < 0:
		return usagef("--drift-interval %v is negative", f.driftInterval)
	case f.credentialsDir == "":
		return usagef("--credentials-dir is required with --pods-from")
	}
	if _, err := labels.Parse(f.selector); err != nil {
		return usagef("--selector %q: %w", f.selector, err)
	}
	return nil
}

func (f *runFlags) openPods(in io.Reader) (io.Reader, func(), error) {
	if f.podsFrom == "-" {
		return in, func() {}, nil
	}
	info, err := os.Stat(f.podsFrom)
	switch {
	case err != nil:
		return nil, nil, usagef("--pods-from: %w", err)
	case info.IsDir():
		return nil, nil, usagef("--pods-from: %s is a directory", f.podsFrom)
	case info.Mode()&os.ModeNamedPipe != 0:
		return &namedPipe{path: f.podsFrom}, func() {}, nil
	}
	file, err := os.Open(f.podsFrom)
	if err != nil {
		return nil, nil, usagef("--pods-from: %w", err)
	}
	return file, func() { _ = file.Close() }, nil
}

// namedPipe is opened by whoever reads it, since that waits for a writer. The end of the program
// closes it.
type namedPipe struct {
	path string
	file *os.File
}

func (p *namedPipe) Read(buffer []byte) (n int, err error) {
	if p.file == nil {
		if p.file, err = os.Open(p.path); err != nil {
			return 0, err
		}
	}
	return p.file.Read(buffer)
}

// watchCredentials follows the directory; what is invalid there is logged, and the old credentials
// stay in use (R27).
func (f *runFlags) watchCredentials(
	ctx context.Context, component *shell.Component, last core.Credentials, logger *slog.Logger,
) error {
	credentialsdir.Watch(ctx, f.credentialsDir, credentialsInterval, last,
		func(updated core.Credentials) {
			logger.Info("credentials changed", "username", updated.Username())
			component.HandleEvent(core.CredentialsUpdated{Credentials: updated})
		},
		func(err error) { logger.Error("credentials unreadable, the old ones stay in use", "error", err) })
	return nil
}
