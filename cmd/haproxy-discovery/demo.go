package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/haproxy-discovery/haproxy-discovery/cmd/haproxy-discovery/internal/demo"
	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell"
)

// demoDriftInterval is short, so that something is seen of it.
const demoDriftInterval = 5 * time.Second

type demoFlags struct {
	options  demo.Options
	probing  core.Config
	record   string
	checked  bool
	listen   string
	output   string
	logLevel string
}

func newDemoCommand(std streams) *cobra.Command {
	var flags demoFlags
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Shows discovery at work on an embedded fleet; needs nothing installed",
		Long: `demo starts a fleet of agents on loopback addresses (127.x.y.z, one port), follows it with the
real discovery and lets things happen to it: rollouts, crashes, hung agents, a rotation of the
credentials, a change of the leader. What happens is told on standard error, what discovery makes
of it on standard output.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkProbing(cmd.Flags(), &flags.probing); err != nil {
				return err
			}
			return withErrQueue(std, func(std streams) error { return flags.run(cmd.Context(), std) })
		},
	}
	set := cmd.Flags()
	set.IntVar(&flags.options.Pods, "pods", 5, "number of pods")
	set.IntVar(&flags.options.Hung, "hung", 1, "how many of them have an agent that never answers")
	set.DurationVar(&flags.options.Duration, "duration", 20*time.Second, "how long it lasts")
	set.Uint64Var(&flags.options.Seed, "seed", 1, "what happens is drawn from this")
	addProbingFlags(set, &flags.probing)
	set.StringVar(&flags.record, "record", "", "record every input to a file, for replay")
	checkInvariantsFlag(set, &flags.checked)
	addListenFlag(set, &flags.listen)
	set.StringVarP(&flags.output, "output", "o", "", "json or text (default text on a terminal, else json)")
	set.StringVar(&flags.logLevel, "log-level", "error", "debug, info, warn or error")
	completeFlags(cmd)
	return cmd
}

func (f *demoFlags) run(ctx context.Context, std streams) error {
	logger, err := newLogger(std.err, f.logLevel)
	if err != nil {
		return err
	}
	format, err := formatOf(f.output, std.out)
	if err != nil {
		return err
	}
	if err := f.options.Validate(); err != nil {
		return usage(err)
	}
	served, err := listen(f.listen)
	if err != nil {
		return err
	}
	fleet, err := demo.NewFleet(f.options)
	if err != nil {
		return err
	}
	defer fleet.Close()
	recorder, err := openRecorder(f.record, f.probing, logger)
	if err != nil {
		return err
	}
	options := slices.Concat(
		recordWith(recorder), served.options(), checkInvariants(f.checked, logger, served))
	component := shell.New(nil, logger, append(options,
		shell.WithConfig(f.probing), shell.WithDriftInterval(demoDriftInterval))...)
	narrate := func(line string) { _, _ = fmt.Fprintln(std.err, "#", line) }
	tasks := []task{{"demo", func(ctx context.Context) error {
		return fleet.Run(ctx, component, narrate)
	}}}
	if served != nil {
		narrate("status page: http://" + served.listener.Addr().String())
		tasks = append(tasks, task{"HTTP server", served.serving(recorder, logger)})
	}
	out := heard(std.out, f.listen != "" || f.record != "")
	return newProgram(component, out, format, logger).run(ctx, tasks...)
}
