// Command haproxy-discovery follows a fleet of HAProxy pods and tells which of their agents may be
// talked to. See the README.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	// A closed standard output is seen as a write error and ends the program in order.
	signal.Ignore(syscall.SIGPIPE)
	// From the first moment on, a signal ends the program in order; a second one ends it at once.
	signals := []os.Signal{syscall.SIGINT, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as it is under nohup
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, restoreSignals := signal.NotifyContext(context.Background(), signals...)
	context.AfterFunc(ctx, restoreSignals)
	root := newRootCommand(os.Stdin, os.Stdout, os.Stderr)
	root.SetArgs(os.Args[1:])
	err := root.ExecuteContext(ctx)
	if err != nil {
		tell(ctx, err)
	}
	os.Exit(exitStatus(err))
}

// tell waits until the line is read, but after a signal only for a moment.
func tell(ctx context.Context, err error) {
	told := make(chan struct{}, 1)
	go func() {
		fmt.Fprintln(os.Stderr, "haproxy-discovery: "+oneLine(err))
		told <- struct{}{}
	}()
	await(told, after(ctx, flushLimit))
}
