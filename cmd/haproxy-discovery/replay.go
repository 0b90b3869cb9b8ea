package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/haproxy-discovery/haproxy-discovery/cmd/haproxy-discovery/internal/output"
	"github.com/haproxy-discovery/haproxy-discovery/cmd/haproxy-discovery/internal/replay"
	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell/inputlog"
)

type replayFlags struct {
	check       bool
	pod         string
	from, until string
	state       bool
	full        bool
	quiet       bool
	output      string
	// reduce is nil but in tests.
	reduce func(core.State, core.Input) (core.State, []core.Effect)
}

func newReplayCommand(std streams) *cobra.Command {
	var flags replayFlags
	cmd := &cobra.Command{
		Use:   "replay LOG",
		Short: "Replays a recorded input log, step by step",
		Long: `replay runs the inputs of a log through the same reducer again and prints each step: the input,
then the verdicts of the pods it is about and its effects. It needs no network, no clock and no
credentials. LOG may be - for the standard input, which may come slowly.

--from and --until name a step by its number, or by a time: 2026-01-02T15:04:05Z, 15:04:05 (UTC, of the
day on which the log begins), or -10m from the end of the log. Both steps are included.

--check fails, with exit status 1, where an invariant breaks, where effects differ from the recorded
ones, and where nothing could be compared. A log in which something is missing or damaged is
unreadable: exit status 2, with or without --check.

With --pod it tells why a pod was, or was not, in the fleet: of each step what concerns the pod, that is
its facts and its verdict where they change, and its effects. Whatever concerns only others is counted.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("replay: give one log (see %s --help)", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return flags.run(cmd.Context(), args[0], std)
		},
	}
	set := cmd.Flags()
	set.BoolVar(&flags.check, "check", false,
		"check the invariants and compare the effects with the recorded digests; exit status 1 on a failure")
	set.StringVar(&flags.pod, "pod", "", "only what concerns this pod, as namespace/name")
	set.StringVar(&flags.from, "from", "", "the first step to print, by number or time (default the first)")
	set.StringVar(&flags.until, "until", "", "the last step, by number or time (default the last)")
	set.BoolVar(&flags.full, "full", false,
		"with -o json, list all endpoints of a publication, not only those added or updated")
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
	options := replay.Options{Check: f.check, Reduce: f.reduce}
	if f.pod != "" {
		key, err := core.ParsePodKey(f.pod)
		if err != nil {
			return usagef("--pod: %w", err)
		}
		options.Pod = &key
	}
	if err := f.points(path, &options); err != nil {
		return err
	}
	file, err := openLog(path, std.in)
	if err != nil {
		return usage(err)
	}
	defer file.Close()
	printer := output.NewPrinter(std.out, format)
	f.show(printer, &options)
	options.Warn = func(text string) { _, _ = fmt.Fprintf(std.err, "warning: %s\n", text) }
	options.Failed = func(text string) { _, _ = fmt.Fprintf(std.err, "failed: %s\n", text) }
	log := newIdleInput(ctx, file, func() { _ = printer.Flush() })
	result, err := replay.Run(ctx, inputlog.NewReader(log), options)
	if err == nil && f.state {
		err = printer.State(fmt.Sprintf("seq %d", result.LastSeq), result.State, options.Pod)
	}
	return f.conclude(path, result, cmp.Or(err, printer.Flush()), std.err)
}

// points reads --from and --until.
func (f *replayFlags) points(path string, options *replay.Options) error {
	span := func() (begin, end time.Time, err error) {
		if path == "-" {
			return begin, end, errors.New("a time that depends on the log needs a file")
		}
		file, err := os.Open(path)
		if err != nil {
			return begin, end, err
		}
		defer file.Close()
		begin, end = replay.Span(inputlog.NewReader(file))
		return begin, end, nil
	}
	for _, flag := range []struct {
		name, text string
		point      *replay.Point
	}{{"from", f.from, &options.From}, {"until", f.until, &options.Until}} {
		if flag.text == "" {
			continue
		}
		point, err := replay.ParsePoint(flag.text, span)
		if err != nil {
			return usagef("--%s: %w", flag.name, err)
		}
		*flag.point = point
	}
	return nil
}

// show has the steps printed. A check goes on when nobody reads them any more: its answer is the exit
// status.
func (f *replayFlags) show(printer *output.Printer, options *replay.Options) {
	unread := f.quiet
	print := func(print func() error) error {
		if unread {
			return nil
		}
		err := print()
		if f.check && errors.Is(err, syscall.EPIPE) {
			unread, err = true, nil
		}
		return err
	}
	options.Step = func(step output.Step) error {
		step.Full = f.full
		return print(func() error { return printer.Step(step) })
	}
	options.Turn = func(turn output.Turn) error {
		return print(func() error { return printer.Turn(turn) })
	}
}

// conclude turns what was found into an exit status. A signal is no failure, unless it leaves a check
// without its answer; nor is a closed output.
func (f *replayFlags) conclude(path string, result replay.Result, err error, errOut io.Writer) error {
	switch {
	case errors.Is(err, replay.ErrUnreadable):
		return usage(fmt.Errorf("%s: %w", path, err))
	case errors.Is(err, replay.ErrReducerPanicked):
		return fmt.Errorf("%s: %w", path, err)
	case errors.Is(err, context.Canceled) && f.check:
		return fmt.Errorf("%s: stopped by a signal after seq %d, so the rest is not checked",
			path, result.LastSeq)
	case errors.Is(err, context.Canceled):
		return nil
	case err != nil && !errors.Is(err, syscall.EPIPE):
		return err
	case f.check && result.Failures > 0:
		return fmt.Errorf("%s: the check of %d inputs failed %d times, first at seq %d",
			path, result.Inputs, result.Failures, result.FirstFailure)
	case f.pod != "" && !result.PodSeen && err == nil:
		return usagef("--pod: %s does not occur in %s up to seq %d", f.pod, path, result.LastSeq)
	case f.from != "" && !result.Shown && err == nil:
		return usagef("--from: %s is behind seq %d, the last of %s", f.from, result.LastSeq, path)
	case f.check && result.Inputs == 0:
		return fmt.Errorf("%s: there is no input to check", path)
	case f.check:
		unknown := ""
		if n := result.Inputs - result.Digests; n > 0 {
			unknown = fmt.Sprintf(", %d not recorded", n)
		}
		_, _ = fmt.Fprintf(errOut, "ok: %d inputs, invariants hold, %d digests equal%s\n",
			result.Inputs, result.Digests, unknown)
	}
	return nil
}
