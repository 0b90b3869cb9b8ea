package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/haproxy-discovery/haproxy-discovery/cmd/haproxy-discovery/internal/output"
	"github.com/haproxy-discovery/haproxy-discovery/effects"
	"github.com/haproxy-discovery/haproxy-discovery/shell"
)

// printGrace is how long a signal waits for an output that nobody reads.
const printGrace = 200 * time.Millisecond

// program runs a component with all that surrounds it in a command.
type program struct {
	component *shell.Component
	events    *effects.Subscription
	printer   *output.Printer
}

func newProgram(component *shell.Component, out io.Writer, format output.Format) program {
	return program{
		component: component,
		events:    component.Subscribe("output"),
		printer:   output.NewPrinter(out, format),
	}
}

// run lasts until the first activity returns, signalled ends, or the output is closed. Whatever
// was published by then is printed; after a signal, only as far as somebody reads it at once. An
// activity that has nothing more to do, while the program should go on, waits for its context.
func (p program) run(signalled context.Context, activities ...func(context.Context) error) error {
	ctx, cancel := context.WithCancel(signalled)
	defer cancel()
	printed := make(chan error, 1)
	go func() {
		defer cancel()
		printed <- p.print()
	}()
	var group errgroup.Group
	for _, activity := range append(activities, p.component.Start) {
		group.Go(func() error {
			defer cancel()
			return activity(ctx)
		})
	}
	err := group.Wait()
	select {
	case printError := <-printed:
		return errors.Join(err, printError)
	case <-afterSignal(signalled):
		return err
	}
}

// afterSignal gives a blocked output a moment after the signal.
func afterSignal(signalled context.Context) <-chan time.Time {
	late := make(chan time.Time)
	context.AfterFunc(signalled, func() { time.AfterFunc(printGrace, func() { close(late) }) })
	return late
}

// print prints until the component has ended and everything is out. A closed output is no failure.
func (p program) print() error {
	for {
		delivery, err := p.events.Next(context.Background())
		if errors.Is(err, effects.ErrClosed) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("printing events: %w", err)
		}
		err = p.printer.Event(delivery.Time, delivery.Event)
		if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("printing events: %w", err)
		}
	}
}

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
