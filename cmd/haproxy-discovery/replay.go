package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/haproxy-discovery/haproxy-discovery/cmd/haproxy-discovery/internal/output"
	"github.com/haproxy-discovery/haproxy-discovery/cmd/haproxy-discovery/internal/replay"
	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell/inputlog"
)

type replayFlags struct {
	check  bool
	pod    string
	until  uint64
	state  bool
	quiet  bool
	output string
}

func newReplayCommand(std streams) *cobra.Command {
	var flags replayFlags
	cmd := &cobra.Command{
		Use:   "replay LOG",
		Short: "Replays a recorded input log, step by step",
		Long: `replay runs the inputs of a log through the same reducer again and prints each step: the input,
then its effects. It needs no network, no clock and no credentials. LOG may be - for the standard input.

With --pod it tells why a pod was, or was not, in the fleet: of each step what concerns the pod, that is
its facts and its verdict where they change, and its effects. Whatever concerns only others is counted.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("replay: give one log (see %s --help)", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("until") && flags.until == 0 {
				return usagef("--until 0: steps are numbered from 1")
			}
			return flags.run(cmd.Context(), args[0], std)
		},
	}
	set := cmd.Flags()
	set.BoolVar(&flags.check, "check", false,
		"check the invariants and compare the effects with the recorded digests; exit status 1 on a failure")
	set.StringVar(&flags.pod, "pod", "", "only what concerns this pod, as namespace/name")
	set.Uint64Var(&flags.until, "until", 0, "stop after the step with this number (default the last)")
	set.BoolVar(&flags.state, "state", false, "print the state that was reached at the end")
	set.BoolVarP(&flags.quiet, "quiet", "q", false, "print no steps")
	set.StringVarP(&flags.output, "output", "o", "", "json or text (default text on a terminal, else json)")
	completeFlags(cmd)
	return cmd
}

func openLog(path string, in io.Reader) (io.ReadCloser, error) {
	if path == "-" {
		return io.NopCloser(in), nil
	}
	return os.Open(path)
}

func (f *replayFlags) run(ctx context.Context, path string, std streams) error {
	format, err := formatOf(f.output, std.out)
	if err != nil {
		return err
	}
	options := replay.Options{Check: f.check, Until: f.until}
	if f.pod != "" {
		key, err := core.ParsePodKey(f.pod)
		if err != nil {
			return usagef("--pod: %w", err)
		}
		options.Pod = &key
	}
	file, err := openLog(path, std.in)
	if err != nil {
		return usage(err)
	}
	defer file.Close()
	printer := output.NewPrinter(std.out, format)
	options.Step = func(step output.Step) error {
		if f.quiet {
			return nil
		}
		return printer.Step(step)
	}
	options.Warn = func(text string) { _, _ = fmt.Fprintf(std.err, "warning: %s\n", text) }
	options.Failed = func(text string) { _, _ = fmt.Fprintf(std.err, "failed: %s\n", text) }
	result, err := replay.Run(ctx, inputlog.NewReader(file), options)
	if err == nil && f.state {
		err = printer.State(fmt.Sprintf("seq %d", result.LastSeq), result.State, options.Pod)
	}
	return f.conclude(path, result, errors.Join(err, printer.Flush()), std.err)
}

// conclude turns what was found into an exit status. A signal is no failure, unless it leaves a check
// without its answer.
func (f *replayFlags) conclude(path string, result replay.Result, err error, errOut io.Writer) error {
	switch {
	case errors.Is(err, syscall.EPIPE):
		return nil
	case errors.Is(err, replay.ErrUnreadable):
		return usage(fmt.Errorf("%s: %w", path, err))
	case errors.Is(err, context.Canceled) && f.check:
		return fmt.Errorf("%s: stopped by a signal after seq %d, so the rest is not checked",
			path, result.LastSeq)
	case errors.Is(err, context.Canceled):
		return nil
	case err != nil:
		return err
	case f.pod != "" && !result.PodSeen:
		return usagef("--pod: %s does not occur in %s up to seq %d", f.pod, path, result.LastSeq)
	case result.Failures > 0:
		return fmt.Errorf("%s: %d of %d inputs failed the check, first at seq %d",
			path, result.Failures, result.Inputs, result.FirstFailure)
	case f.check:
		_, _ = fmt.Fprintf(errOut, "ok: %d inputs, invariants hold, %d digests equal\n",
			result.Inputs, result.Digests)
	}
	return nil
}
