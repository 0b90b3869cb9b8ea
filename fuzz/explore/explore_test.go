package explore

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

var exploreAll = flag.Bool("explore.all", false, "explore all worlds, which takes a while")

// TestWorld is what the ordinary tests explore.
func TestWorld(t *testing.T) {
	if *exploreAll {
		t.Skip("TestWorlds explores it")
	}
	result := Explore(mixture(), core.Reduce)
	t.Log(result)
	report(t, result)
	if result.States < 100_000 {
		t.Errorf("only %d states: the world has become too small to tell much", result.States)
	}
}

// TestWorlds explores all of them; `make explore` runs it.
func TestWorlds(t *testing.T) {
	if !*exploreAll {
		t.Skip("-explore.all is not set")
	}
	total := Result{World: World{Name: "total"}, Coverage: newCoverage()}
	for _, world := range Worlds() {
		result := Explore(world, core.Reduce)
		t.Logf("%s\n%s\ninputs: %v\neffects: %v\nevents: %v", result, world.Emphasis,
			result.Coverage.Inputs, result.Coverage.Effects, result.Coverage.Events)
		report(t, result)
		total.add(result)
	}
	t.Log(total)
	for _, name := range total.Coverage.missing() {
		t.Errorf("no world has seen %s", name)
	}
	if total.States < 10_000_000 {
		t.Errorf("only %d states in all", total.States)
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
