package main

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/effects"
	"github.com/haproxy-discovery/haproxy-discovery/shell"
	"github.com/haproxy-discovery/haproxy-discovery/shell/timeline"
)

// feed is where pods, credentials and leadership come from.
type feed interface {
	// attach gives the component what is known, and the tasks that go on feeding it.
	attach(component *shell.Component) []task
	// lastContact tells when the source of the pods was last heard of. Reads of the store would not: it
	// can always be read.
	lastContact() time.Time
	// sources tells how things stand with where pods, credentials and leadership come from.
	sources() []timeline.Source
	close()
}

// activity goes on until its context ends.
type activity = func(context.Context) error

func newRunCommand(std streams) *cobra.Command {
	var flags runFlags
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Follows a fleet and prints its events",
		Long: `Follows the pods of a cluster, or of a stream that kubectl prints, probes their agents and
prints what happens to the fleet.

Without --pods-from, the cluster is found as kubectl finds it. At the start, what is not permitted or
not there ends the program with status 2; an API server that is out of reach is waited for, except
with --once. Later on, whatever goes wrong is logged, and the last fleet stands.`,
		Example: `  haproxy-discovery run -n lb --leader-elect

  kubectl get pods -l app.kubernetes.io/component=loadbalancer -o json \
      --watch --output-watch-events |
    haproxy-discovery run --pods-from - --credentials-dir /etc/haproxy-discovery/credentials`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := flags.check(cmd.Flags()); err != nil {
				return err
			}
			return withErrQueue(std, func(std streams) error { return flags.run(cmd.Context(), std) })
		},
	}
	flags.register(cmd.Flags())
	completeFlags(cmd)
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
	prober, err := effects.NewProber(f.agentTLS)
	if err != nil {
		return usage(err)
	}
	feed, err := f.open(ctx, std.in, logger)
	if err != nil {
		return err
	}
	defer feed.close()
	if ctx.Err() != nil {
		return nil
	}
	config := f.probing
	config.AgentContainer, config.AgentScheme = f.agentContainer, f.agentScheme
	served, err := listen(f.listen)
	if err != nil {
		return err
	}
	recorder, err := openRecorder(f.record, config, logger)
	if err != nil {
		return err
	}
	first := newFirstVerdicts(logger)
	options := slices.Concat(
		recordWith(recorder), served.options(), checkInvariants(f.checked, logger, served))
	component := shell.New(nil, logger, append(options,
		shell.WithConfig(config),
		shell.WithDriftInterval(f.driftInterval),
		shell.WithProber(prober),
		shell.WithObserver(first))...)
	component.HandleEvent(core.ConfigValidated{AgentPort: f.agentPort, PodSelector: f.selector})
	tasks := feed.attach(component)
	sources := feed.sources
	if f.agentTLS != (effects.TLSFiles{}) {
		files := &tlsFiles{prober: prober, logger: logger}
		tasks = append(tasks, task{"TLS files", files.watch})
		sources = func() []timeline.Source { return append(feed.sources(), files.shown()) }
	}
	if served != nil {
		served.follow(sources, feed.lastContact)
		tasks = append(tasks, task{"HTTP server", served.serving(recorder, logger)})
	}
	if f.once {
		tasks = append(tasks, task{"--once", first.wait})
	}
	out := heard(std.out, f.listen != "" || f.record != "")
	return newProgram(component, out, format, logger).run(ctx, tasks...)
}

func (f *runFlags) open(ctx context.Context, in io.Reader, logger *slog.Logger) (feed, error) {
	if f.podsFrom != "" {
		return f.openStream(in, logger)
	}
	return f.openCluster(ctx, logger)
}
