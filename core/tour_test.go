package core_test

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The table of the guided tour says what Reduce does: each of its rows is a step of a transcript,
// marked there with `# tour: situation`, and each marked step is a row.
func TestTourTableIsWhatReduceDoes(t *testing.T) {
	does := map[string]string{}
	for _, path := range transcripts(t) {
		told := tellStory(t, path).told
		for line, situation := range tourMarks(t, path) {
			step, isStep := told[line]
			if !isStep {
				t.Fatalf("%s:%d: the mark %q stands above no input", path, line, situation)
			}
			effects := "nothing"
			if len(step.effects) > 0 {
				effects = strings.Join(step.effects, ", ")
			}
			row := step.input + ": " + situation
			if other, known := does[row]; known && other != effects {
				t.Errorf("%s: %s leads to %s here, to %s elsewhere", path, row, effects, other)
			}
			does[row] = effects
		}
	}
	if diff := cmp.Diff(does, tourTable(t)); diff != "" {
		t.Errorf("doc.go does not say what Reduce does (- does, + says):\n%s\nThe table:\n%s",
			diff, printTable(does))
	}
}

// tourMarks gives the situations of a transcript by the line of the command they stand above.
func tourMarks(t *testing.T, path string) map[int]string {
	t.Helper()
	marks := map[int]string{}
	situation := ""
	for i, line := range strings.Split(readFile(t, path), "\n") {
		if mark, isMark := strings.CutPrefix(line, "# tour: "); isMark {
			situation = mark
			continue
		}
		if situation != "" {
			marks[i+1] = situation
			situation = ""
		}
	}
	return marks
}

var (
	tourInput = regexp.MustCompile(`^//\t(\S+)$`)
	tourRow   = regexp.MustCompile(`^//\t  (.*?) +-> (.*)$`)
)

func tourTable(t *testing.T) map[string]string {
	t.Helper()
	says := map[string]string{}
	input := ""
	for line := range strings.SplitSeq(readFile(t, "doc.go"), "\n") {
		if match := tourInput.FindStringSubmatch(line); match != nil {
			input = match[1]
		}
		if match := tourRow.FindStringSubmatch(line); match != nil {
			says[input+": "+match[1]] = match[2]
		}
	}
	return says
}

func printTable(rows map[string]string) string {
	var table strings.Builder
	last := ""
	for _, row := range slices.Sorted(maps.Keys(rows)) {
		input, situation, _ := strings.Cut(row, ": ")
		if input != last {
			fmt.Fprintf(&table, "//\t%s\n", input)
			last = input
		}
		fmt.Fprintf(&table, "//\t  %-52s -> %s\n", situation, rows[row])
	}
	return table.String()
}

var (
	tourRule     = regexp.MustCompile(`(?m)^//\t(R\d+) +(\S+\.go) .*\n((?://\t     .*\n)+)`)
	numberedRule = regexp.MustCompile(`\bR\d+\b`)
)

// The index of the rules names, for each rule that the core follows, a file that cites it and the
// transcripts that show it; none of them is forgotten.
func TestTourNamesFileAndTranscriptsOfEachRule(t *testing.T) {
	shown := map[string][]string{}
	for _, path := range transcripts(t) {
		name := strings.TrimSuffix(strings.TrimPrefix(path, "testdata/"), ".txt")
		head, _, _ := strings.Cut(readFile(t, path), "\n\n")
		_, rules, found := strings.Cut(head, "# Rules: ")
		if !found || !strings.HasPrefix(head, "# ") {
			t.Errorf("%s does not begin with its purpose and its rules", path)
		}
		rules, _, _ = strings.Cut(rules, "\n")
		for _, rule := range numberedRule.FindAllString(rules, -1) {
			shown[rule] = append(shown[rule], name)
		}
	}
	says := map[string][]string{}
	for _, match := range tourRule.FindAllStringSubmatch(readFile(t, "doc.go"), -1) {
		rule, file := match[1], match[2]
		if !slices.Contains(numberedRule.FindAllString(readFile(t, file), -1), rule) {
			t.Errorf("%s does not cite %s", file, rule)
		}
		says[rule] = strings.Fields(strings.ReplaceAll(match[3], "//", ""))
	}
	if diff := cmp.Diff(shown, says); diff != "" {
		t.Errorf("doc.go names other transcripts (- show the rule, + are named):\n%s", diff)
	}
	for number := 1; number <= 24; number++ {
		if rule := fmt.Sprintf("R%d", number); shown[rule] == nil {
			t.Errorf("no transcript shows %s", rule)
		}
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
