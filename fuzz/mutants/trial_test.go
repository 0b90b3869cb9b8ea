package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The whole way, on a package of its own: what its test looks at is noticed, an endless loop
// included, and what makes no difference survives.
func TestTrials(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a package")
	}
	folder := t.TempDir()
	t.Chdir(folder)
	for name, text := range map[string]string{
		"go.mod": "module p\ngo 1.26\n",
		"p.go": `package p

func Sum(to int) (sum int) {
	for i := 0; i < to; {
		i++
		sum += i
	}
	if sum == 0 {
		return 0
	}
	return sum
}
`,
		"p_test.go": `package p

import "testing"

func TestSum(t *testing.T) {
	if Sum(3) != 6 {
		t.Fail()
	}
}
`,
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	verdicts := tryAll(t)
	for change, survives := range map[string]bool{
		"i < to -> i <= to":          false,
		"i++ -> removed":             false, // it would loop for ever
		"sum += i -> removed":        false,
		"if sum == 0 {…} -> removed": true,
		"sum == 0 -> sum != 0":       false,
	} {
		noticedBy, tried := verdicts[change]
		if !tried || (noticedBy == "") != survives {
			t.Errorf("%s: noticed by %q", change, noticedBy)
		}
	}
	if text, err := os.ReadFile("p.go"); err != nil || strings.Contains(string(text), "mutant") {
		t.Errorf("the source was touched: %v\n%s", err, text)
	}
}

// tryAll gives the stage that has noticed each change.
func tryAll(t *testing.T) map[string]string {
	t.Helper()
	ctx := context.Background()
	source, err := load(ctx, ".")
	if err != nil {
		t.Fatal(err)
	}
	mutated := mutate(source)
	trials, err := build(ctx, source, mutated, []stage{{name: "tests", pkg: "."}})
	if err != nil {
		t.Fatal(err)
	}
	defer trials.close()
	if err := trials.measure(ctx); err != nil {
		t.Fatal(err)
	}
	trials.stages[0].seconds = 1
	verdicts, err := trials.all(ctx, mutated.mutants, 2)
	if err != nil {
		t.Fatal(err)
	}
	noticedBy := map[string]string{}
	for _, v := range verdicts {
		noticedBy[v.Original+" -> "+v.Change] = v.noticedBy
	}
	return noticedBy
}
