// Command mutants asks whether the tests of core would notice: it changes the package in some
// thousand small ways, one at a time, and runs the tests against each. A change that no test
// notices is a survivor: a gap in the tests, code that does nothing, or a change that makes no
// difference. The list of those that are known stands in accepted.txt, each with its reason.
//
// All changes stand in one copy of the source, each behind a switch that an environment variable
// turns on, so that the tests are built only once. Nothing in the working tree is touched: the
// build gets the copy as an overlay.
//
// The exit status is 1 if there are survivors that the list does not know, entries of it that do
// not survive any more, or if too few of the changes are noticed; 2 if there was no telling.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"time"
)

// minScore is how many of the changes that make a difference have to be noticed, in per cent.
const minScore = 95

func main() {
	var (
		every = flag.Int("every", 1, "try every n-th mutant only")
		only  = flag.String("only", "", "try mutants whose name, as it is printed, matches")
		jobs  = flag.Int("jobs", 2, "how many are tried at once")
		quick = flag.Bool("quick", false, "leave out the tests that take long")
		list  = flag.Bool("list", false, "print the mutants, and try none")
	)
	flag.Parse()
	filter, err := regexp.Compile(*only)
	if err != nil || *every < 1 || *jobs < 1 || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "mutants: bad arguments:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	chosen := selection{every: *every, only: filter, quick: *quick}
	passed, err := run(ctx, chosen, *jobs, *list)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(2)
	}
	if !passed {
		os.Exit(1)
	}
}

// selection tells which mutants are tried, and against what.
type selection struct {
	every int
	only  *regexp.Regexp
	quick bool
}

func (s selection) stages() []stage {
	return slices.DeleteFunc(slices.Clone(stages), func(stage stage) bool {
		return s.quick && stage.slow
	})
}

func (s selection) of(mutants []Mutant) (selected []Mutant) {
	for _, mutant := range mutants {
		if s.only.MatchString(mutant.String()) {
			selected = append(selected, mutant)
		}
	}
	var sample []Mutant
	for i := 0; i < len(selected); i += s.every {
		sample = append(sample, selected[i])
	}
	return sample
}

func run(ctx context.Context, chosen selection, jobs int, listOnly bool) (passed bool, err error) {
	started := time.Now()
	source, err := load(ctx, target)
	if err != nil {
		return false, err
	}
	mutated := mutate(source)
	selected := chosen.of(mutated.mutants)
	if listOnly {
		for _, mutant := range selected {
			fmt.Println(mutant)
		}
		fmt.Printf("%d mutants\n", len(selected))
		return true, nil
	}
	accepted, err := readAccepted(acceptedFile)
	if err != nil {
		return false, err
	}
	trials, err := build(ctx, source, mutated, chosen.stages())
	if err != nil {
		return false, err
	}
	defer trials.close()
	if err := trials.measure(ctx); err != nil {
		return false, err
	}
	verdicts, err := trials.all(ctx, selected, jobs)
	if err != nil {
		return false, err
	}
	report := compare(verdicts, accepted, mutated.mutants)
	report.print(os.Stdout, time.Since(started))
	return report.passed(), nil
}
