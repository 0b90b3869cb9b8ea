package explore

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

var exploreAll = flag.Bool("explore.all", false, "explore all worlds, which takes a while")

// TestWorlds explores the mixture, or with -explore.all, as `make explore` does, all worlds, or one
// of them with -run TestWorlds/queue. With -short, as `make race` does, it explores a small one: the race detector sees no more in a large one.
func TestWorlds(t *testing.T) {
	worlds, least := []World{mixture()}, 100_000
	switch {
	case *exploreAll:
		worlds, least = allWorlds(), 10_000_000
	case testing.Short():
		worlds, least = []World{pair()}, 2_000
	}
	total := Result{World: World{Name: "total"}, coverage: newCoverage()}
	explored := 0
	for _, world := range worlds {
		world.RestoreAll = *exploreAll
		t.Run(world.Name, func(t *testing.T) {
			result := Explore(world, core.Reduce, everyMinute(t))
			t.Logf("%s\n%s\ninputs: %v\neffects: %v\nevents: %v", result, world.Emphasis,
				result.coverage.inputs, result.coverage.effects, result.coverage.events)
			report(t, result)
			total.add(result)
			explored++
		})
	}
	t.Log(total)
	if explored < len(worlds) { // -run has chosen one: TestWorlds/queue
		return
	}
	if total.States < least {
		t.Errorf("%d states tell less than the %d that there once were", total.States, least)
	}
	if missing := total.coverage.missing(); *exploreAll && len(missing) > 0 {
		t.Errorf("no world has seen %v", missing)
	}
}

// everyMinute logs how far a long exploration is, about as often.
func everyMinute(t *testing.T) (progress func(Result)) {
	told := time.Duration(0)
	return func(r Result) {
		if r.Took > told+time.Minute {
			told = r.Took
			t.Logf("%s: %d states within %d moves after %v",
				r.World.Name, r.States, r.Depth, r.Took.Round(time.Second))
		}
	}
}

// report prints what does not hold, and writes it out: a log to replay and a test to keep.
func report(t *testing.T, result Result) {
	t.Helper()
	found := result.Counterexample
	if found == nil {
		return
	}
	folder, err := os.MkdirTemp("", "counterexample-")
	if err != nil {
		t.Fatal(err)
	}
	source, err := found.GoTest()
	if err != nil {
		t.Fatal(err)
	}
	log, test := filepath.Join(folder, "inputs.jsonl"), filepath.Join(folder, "counterexample_test.go")
	if err := os.WriteFile(test, source, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := found.WriteLog(log); err != nil {
		t.Fatal(err)
	}
	t.Errorf("%v\nas a log for `haproxy-discovery replay %s --check`,\nas a test in %s:\n\n%s",
		found, log, test, source)
}
