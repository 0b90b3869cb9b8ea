package main

// target is the package that is mutated, and acceptedFile the list of the survivors that are known.
const (
	target       = "./core"
	acceptedFile = "fuzz/mutants/accepted.txt"
)

// stages are run one after the other until one of them notices a mutant: those that notice most in
// the shortest time first. A property is told the same stories each time, and does not shrink them.
var stages = []stage{
	{name: "transcripts", pkg: "./core", args: []string{"-test.run=^TestTranscripts$"}},
	{name: "core's other tests", pkg: "./core", args: []string{
		// The purity of the source is no matter of what it does.
		"-test.skip=^TestTranscripts$|^TestCoreIsPure$|^TestImpurityIsFound$",
	}},
	{name: "invariants", pkg: "./core/invariant"},
	{name: "scripts", pkg: "./fuzz/script"},
	{name: "properties", pkg: "./fuzz", args: properties("1000"), slow: true},
}

func properties(checks string) []string {
	return []string{
		"-rapid.checks=" + checks, "-rapid.seed=1", "-rapid.shrinktime=0s", "-rapid.nofailfile",
	}
}
