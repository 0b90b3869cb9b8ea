package main

import (
	"fmt"
	"go/importer"
	"go/token"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sourceOf is a package of one file, which may import what the standard library holds.
func sourceOf(t *testing.T, text string) *source {
	t.Helper()
	s := &source{set: token.NewFileSet(), files: []sourceFile{{name: "p.go", text: []byte(text)}}}
	if err := s.check("p", exportOf(t)); err != nil {
		t.Fatal(err)
	}
	return s
}

// exportOf finds the compiled packages of the standard library that are used here.
func exportOf(t *testing.T) importer.Lookup {
	t.Helper()
	exports, err := standardLibrary()
	if err != nil {
		t.Fatal(err)
	}
	return func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
}

var standardLibrary = sync.OnceValues(func() (map[string]string, error) {
	output, err := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}",
		"cmp", "fmt", "os", "slices", "strconv").Output()
	exports := map[string]string{}
	for line := range strings.Lines(string(output)) {
		path, export, _ := strings.Cut(strings.TrimSpace(line), " ")
		exports[path] = export
	}
	return exports, err
})

// Each operator, on a few lines of code: the changes that it makes, without the one by which each
// function returns at once.
func TestOperators(t *testing.T) {
	for name, test := range map[string]struct{ code, want string }{
		"negated comparison": {
			`func f(a, b int) bool { return a == b }`,
			`a == b -> a != b`,
		},
		"boundary": {
			`func f(a, b string) bool { return a < b }`,
			`a < b -> a <= b; a < b -> a >= b`,
		},
		"and, with negated operands": {
			`func f(a, b bool) bool { return a && b }`,
			`a && b -> a || b; a -> !a; b -> !b`,
		},
		"or, over lines": {
			"func f(a, b bool) bool {\n return a ||\n  b // why\n}",
			`a || b -> a && b; a -> !a; b -> !b`,
		},
		"not": {
			`func f(a bool) bool { return !a }`,
			`!a -> a`,
		},
		"condition and if": {
			`func f(a bool) (n int) { if a { n = 1 }; return n }`,
			`if a {…} -> removed; a -> !a; n = 1 -> removed; 1 -> 1 + 1; 1 -> 1 - 1`,
		},
		"if with an else": {
			`func f(a bool) string { if a { return "x" } else { return "y" } }`,
			`a -> !a`,
		},
		"statements": {
			`var n int; func g() {}; func f() { g(); n++; n += n; m := n; _ = m }`,
			`g() -> removed; n++ -> removed; n += n -> removed; _ = m -> removed`,
		},
		"loops": {
			`func g(int) bool { return g(0) }; func f(l []int) { for _, v := range l { if g(v) { continue } } }`,
			`0 -> 0 + 1; 0 -> 0 - 1; for range l {…} -> removed; if g(v) {…} -> removed; ` +
				`g(v) -> !g(v); continue -> removed`,
		},
		"arithmetic on numbers only": {
			`func f(a uint8, b string) (uint8, string) { return a%a*a, b + b }`,
			`a%a*a -> a%a / a; a%a -> a * a`,
		},
		"named constants are left alone": {
			`type d int64; const c d = 5; func f(a d) d { const x = 3; var l [2]int; _ = l; return a - 7*c }`,
			`_ = l -> removed; a - 7*c -> a + 7*c; 7*c -> 7 / c; 7 -> 7 + 1; 7 -> 7 - 1`,
		},
		"cases of conditions": {
			`func f(a int) string { switch { case a == a: return "x"; default: return "y" } }`,
			`case a == a -> removed; a == a -> a != a`,
		},
		"cases of values": {
			`func f(a string) string { switch a { case "x", "y": return a; default: return "z" } }`,
			`case "x", "y" -> removed`,
		},
		"cases of types": {
			"func f(a any) (n string) { switch b := a.(type) { case string: n = b; // why\n case int: }; return }",
			`case string -> removed; n = b -> removed`,
		},
		"fields": {
			`type s struct { a string; n int; c any }; func f() s { return s{a: "x", n: 0, c: nil} }`,
			`a: "x" -> zero; n: 0 -> zero; 0 -> 0 + 1; 0 -> 0 - 1`,
		},
		"neighbours": {
			`func f(a, b, c string) []string { return []string{a, b, c} }`,
			`a, b -> swapped; b, c -> swapped`,
		},
		"arguments": {
			`import "cmp"; func g(a, b string) {}; func f(a, b int) int { g("x", "y"); return cmp.Or(a, b, 0) }`,
			`g("x", "y") -> removed; a, b -> swapped; b, 0 -> swapped; 0 -> 0 + 1; 0 -> 0 - 1`,
		},
		"a call left out": {
			`import "slices"; func f(l []int) []int { return slices.Clone(l) }`,
			`slices.Clone(l) -> l`,
		},
		"min and max": {
			`func f(a, b int) int { return min(a, max(b, a)) }`,
			`min(a, max(b, a)) -> max(a, max(b, a)); max(b, a) -> min(b, a)`,
		},
		"truth": {
			`func f(a int) (int, bool) { return a, true }`,
			`true -> !true`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			source := sourceOf(t, "package p\n"+test.code+"\n")
			result := mutate(source)
			var changes []string
			for _, mutant := range result.mutants {
				if mutant.Change != "return at once" {
					changes = append(changes, mutant.Original+" -> "+mutant.Change)
				}
			}
			want := strings.Split(test.want, "; ")
			slices.Sort(changes)
			slices.Sort(want)
			if diff := cmp.Diff(want, changes); diff != "" {
				t.Errorf("- want, + got:\n%s", diff)
			}
			checkCompiles(t, result)
		})
	}
}

// checkCompiles: what was mutated is still a package, and so are its switches.
func checkCompiles(t *testing.T, result mutated) {
	t.Helper()
	s := &source{set: token.NewFileSet(), files: []sourceFile{
		{name: "p.go", text: result.files["p.go"]},
		{name: "switches.go", text: []byte("package p\n" + switches)},
	}}
	if err := s.check("p", exportOf(t)); err != nil {
		t.Errorf("%v in\n%s", err, result.files["p.go"])
	}
}

// Functions, methods and literals return at once, with zeros of all their results.
func TestReturnAtOnce(t *testing.T) {
	result := mutate(sourceOf(t, `package p
type s[T any] struct{ t T }
func (s *s[T]) m(k string) (t T, found bool) { return s.t, k == "" }
func f(yield func(int) bool) { g := func() error { return nil }; _ = g }
func nothing() {}
`))
	checkCompiles(t, result)
	var names []string
	for _, mutant := range result.mutants {
		if mutant.Change == "return at once" {
			names = append(names, mutant.Function)
		}
	}
	if want := []string{"s.m", "f", "f"}; !slices.Equal(names, want) {
		t.Errorf("%q return at once instead of %q", names, want)
	}
	for _, want := range []string{"return *new(T), *new(bool) }", "return *new(error) }"} {
		if !strings.Contains(string(result.files["p.go"]), want) {
			t.Errorf("there is no %s in\n%s", want, result.files["p.go"])
		}
	}
}

// A mutant keeps its name when code before it is added, and equal ones in a function are numbered.
func TestNamesOutliveOtherChanges(t *testing.T) {
	const code = "func f(a int) bool { return a == 1 || a == 1 }\n"
	names := func(text string) (names []string) {
		for _, mutant := range mutate(sourceOf(t, text)).mutants {
			if mutant.Function == "f" {
				names = append(names, mutant.name.String())
			}
		}
		return names
	}
	before := names("package p\n" + code)
	after := names("package p\n\n// g is new.\nfunc g(a int) bool { return a == 1 }\n\n" + code)
	if !slices.Equal(before, after) {
		t.Errorf("%q were named before, %q after", before, after)
	}
	if !slices.Contains(before, "p.go f: a == 1 -> a != 1 (2)") {
		t.Errorf("the second of two equal ones is not in %q", before)
	}
}

// With no mutant turned on, the mutated package does what the original does; with one turned on, it
// does what that one says.
func TestMutantsDoWhatTheySay(t *testing.T) {
	result := mutate(sourceOf(t, mutatedProgram))
	outputs := runMutants(t, result)
	const asItIs = "true false 3 [a b] 10"
	if outputs[0] != asItIs {
		t.Fatalf("without any mutant, it prints %q", outputs[0])
	}
	for change, want := range map[string]string{
		"a < b -> a <= b":          "true true 3 [a b] 10",
		"a < b -> a >= b":          "false true 3 [a b] 10",
		"n++ -> removed":           "true false 0 [a b] 10",
		"if n == 3 {…} -> removed": "true false 4 [a b] 10",
		`"a", "b" -> swapped`:      "true false 3 [b a] 10",
		"5 -> 5 + 1":               "true false 3 [a b] 12",
		"5 * 2 -> 5 / 2":           "true false 3 [a b] 2",
	} {
		found := false
		for _, mutant := range result.mutants {
			if mutant.Original+" -> "+mutant.Change == change {
				found = true
				if got := outputs[mutant.ID]; got != want {
					t.Errorf("%s: it prints %q instead of %q", change, got, want)
				}
			}
		}
		if !found {
			t.Errorf("there is no mutant %s", change)
		}
	}
}

const mutatedProgram = `package main
import "fmt"
func less(a, b int) bool { return a < b }
func count() (n int) {
	for range []int{1, 2, 3, 4} {
		if n == 3 {
			continue
		}
		n++
	}
	return n
}
func main() {
	fmt.Print(less(1, 2), less(2, 2), " ", count(), " ", []string{"a", "b"}, " ", 5 * 2)
}
`

// runMutants builds a program once and runs it with each of its mutants turned on.
func runMutants(t *testing.T, result mutated) (outputs []string) {
	t.Helper()
	folder := t.TempDir()
	for name, text := range map[string][]byte{
		"go.mod": []byte("module p\ngo 1.26\n"), "p.go": result.files["p.go"],
		"switches.go": []byte("package main\n" + switches),
	} {
		if err := os.WriteFile(folder+"/"+name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", "p", ".")
	build.Dir = folder
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	for id := range len(result.mutants) + 1 {
		command := exec.CommandContext(t.Context(), folder+"/p")
		command.Env = append(os.Environ(), fmt.Sprintf("MUTANT=%d", id))
		output, _ := command.CombinedOutput()
		outputs = append(outputs, string(output))
	}
	return outputs
}
