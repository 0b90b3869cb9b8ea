package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"syscall"
	"time"

	"github.com/samber/lo"

	"github.com/haproxy-discovery/haproxy-discovery/cmd/haproxy-discovery/internal/output"
	"github.com/haproxy-discovery/haproxy-discovery/effects"
	"github.com/haproxy-discovery/haproxy-discovery/shell"
)

// The limits of the end, which has a second in all (R31).
const (
	// endLimit is for what does not heed its context: a credential plugin, say, that client-go runs.
	// A server and a lease take up to half a second in good order.
	endLimit = 750 * time.Millisecond
	// printGrace is how long a signal waits for an output that nobody reads.
	printGrace = 200 * time.Millisecond
)

// program runs a component with all that surrounds it in a command.
type program struct {
	component *shell.Component
	events    *effects.Subscription
	printer   *output.Printer
	logger    *slog.Logger
}

// task is an activity and what to call it where it does not end.
type task struct {
	name string
	run  activity
}

func newProgram(
	component *shell.Component, out io.Writer, format output.Format, logger *slog.Logger,
) program {
	return program{
		component: component,
		events:    component.Subscribe("output"),
		printer:   output.NewPrinter(out, format),
		logger:    logger,
	}
}

// run lasts until the first task returns, signalled ends, or the output is closed. Whatever was
// published by then is printed; after a signal, only as far as somebody reads it at once. A task that
// has nothing more to do, while the program should go on, waits for its context; one that does not
// heed it is left behind.
func (p program) run(signalled context.Context, tasks ...task) error {
	ctx, cancel := context.WithCancel(signalled)
	defer cancel()
	printed := make(chan error, 1)
	go func() {
		defer cancel()
		printed <- p.print()
	}()
	others := startTasks(ctx, cancel, tasks)
	// The component bounds its own end, and has its observers to close.
	err := p.component.Start(ctx)
	cancel()
	late := after(signalled, printGrace)
	err = errors.Join(err, p.conclude(others, after(ctx, endLimit)))
	printError, _ := await(printed, late)
	return errors.Join(err, printError)
}

// running is a task, and where its error will be.
type running struct {
	name   string
	result <-chan error
}

// startTasks starts them all. The first one that returns ends all.
func startTasks(ctx context.Context, cancel context.CancelFunc, tasks []task) []running {
	return lo.Map(tasks, func(task task, _ int) running {
		result := make(chan error, 1)
		go func() {
			defer cancel()
			result <- task.run(ctx)
		}()
		return running{task.name, result}
	})
}

// conclude joins the errors of the tasks that have ended by the limit, and names the others.
func (p program) conclude(tasks []running, limit <-chan struct{}) error {
	var joined error
	var hanging []string
	for _, task := range tasks {
		err, ended := await(task.result, limit)
		if !ended {
			hanging = append(hanging, task.name)
		}
		joined = errors.Join(joined, err)
	}
	if len(hanging) > 0 {
		p.logger.Warn("not everything has ended in time; it is left behind",
			"hangs", strings.Join(hanging, ", "))
	}
	return joined
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
