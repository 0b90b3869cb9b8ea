package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"
)

// trials are the tests, built and ready to be run against one mutant after the other.
type trials struct {
	folder string
	stages []builtStage
}

type builtStage struct {
	stage
	binary string
	folder string
	// seconds is what the tests may use of a processor: a mutant may well loop for ever.
	seconds int
}

// verdict tells which stage has noticed a mutant; none for a survivor.
type verdict struct {
	Mutant
	noticedBy string
}

func (t *trials) close() { _ = os.RemoveAll(t.folder) }

// measure runs all tests without any mutant: they have to pass, and show how long they take.
func (t *trials) measure(ctx context.Context) error {
	for i := range t.stages {
		stage := &t.stages[i]
		stage.seconds = 600
		command := stage.command(ctx, 0)
		output, err := command.CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s fail without any mutant: %w\n%s", stage.name, err, output)
		}
		used := command.ProcessState.UserTime() + command.ProcessState.SystemTime()
		stage.seconds = 5 + 5*int(used/time.Second)
		fmt.Fprintf(os.Stderr, "%s: %.1f s of a processor\n", stage.name, used.Seconds())
	}
	return nil
}

// all tries each mutant.
func (t *trials) all(ctx context.Context, mutants []Mutant, jobs int) ([]verdict, error) {
	verdicts := make([]verdict, len(mutants))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(jobs)
	for i, mutant := range mutants {
		if i%100 == 0 {
			fmt.Fprintf(os.Stderr, "%d of %d mutants\n", i, len(mutants))
		}
		group.Go(func() error {
			noticedBy, err := t.one(ctx, mutant)
			verdicts[i] = verdict{mutant, noticedBy}
			if noticedBy == "" && err == nil {
				fmt.Fprintf(os.Stderr, "survives: %v\n", mutant.name)
			}
			return err
		})
	}
	return verdicts, group.Wait()
}

func (t *trials) one(ctx context.Context, mutant Mutant) (noticedBy string, err error) {
	for _, stage := range t.stages {
		err := stage.command(ctx, mutant.ID).Run()
		var exit *exec.ExitError
		switch {
		case ctx.Err() != nil:
			return "", ctx.Err()
		case errors.As(err, &exit):
			return stage.name, nil
		case err != nil:
			return "", fmt.Errorf("%s: %w", stage.name, err)
		}
	}
	return "", nil
}

// command runs a stage's tests with a mutant turned on, bounded in time and memory: a mutant may
// loop for ever, or eat up the machine.
func (s builtStage) command(ctx context.Context, id int) *exec.Cmd {
	const maxMemory = 3 << 20 // KiB
	limited := fmt.Sprintf(`ulimit -t %d; ulimit -v %d; exec "$@"`, s.seconds, maxMemory)
	args := []string{"-c", limited, "sh", s.binary, "-test.failfast", "-test.timeout=10m"}
	command := exec.CommandContext(ctx, "sh", append(args, s.args...)...)
	command.Dir = s.folder
	command.Env = append(os.Environ(), "MUTANT="+strconv.Itoa(id), "GOMAXPROCS=1")
	return command
}
