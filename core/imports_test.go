package core_test

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What the pure packages may import. Of time, fmt and log/slog only some names, see usable.
var importable = []string{
	"cmp", "crypto/sha256", "encoding/binary", "encoding/hex", "encoding/json", "errors", "fmt",
	"hash/fnv", "io", "iter", "log/slog", "maps", "math", "math/bits", "net/netip", "regexp", "slices",
	"strconv", "strings", "time", "unicode", "unicode/utf8", "unique",

	"github.com/cilium/statedb/part",
	"github.com/haproxy-discovery/haproxy-discovery/core",
	"github.com/haproxy-discovery/haproxy-discovery/core/internal/persistent",
	"github.com/samber/lo",
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured",
	"k8s.io/apimachinery/pkg/labels",
}

// usable are the names of those packages that also hold clocks, random sources, goroutines or I/O.
var usable = map[string][]string{
	"time": {"Time", "Duration", "Nanosecond", "Microsecond", "Millisecond", "Second", "Minute", "Hour"},
	"fmt": {
		"Sprint", "Sprintf", "Sprintln", "Errorf", "Fprint", "Fprintf", "Fprintln",
		"State", "Stringer", "Formatter",
	},
	"log/slog":             {"Value", "StringValue", "LogValuer"},
	"io":                   {"WriteString", "Writer"},
	"maps":                 {"Equal", "Clone", "Copy", "Keys"},
	"github.com/samber/lo": {"Contains", "ContainsBy", "Filter", "FilterMap", "Find", "Map"},
}

const mapRange = "a range over a map"

// What the invariants may do besides. They give no effects: the order of their maps reaches nobody,
// and a hash salted for each process tells credentials apart without giving them away (R26).
var checkerMay = regexp.MustCompile(mapRange + `$|imports hash/maphash$`)

// The core has no clock, no random source, no I/O, no goroutine and no dependence on the order of
// maps; its dependencies are few. This list is the only place to add one.
func TestCoreIsPure(t *testing.T) {
	check := newPurityCheck(t, ".")
	for _, folder := range []string{".", "audit", "internal/persistent", "invariant", "projection"} {
		if _, err := os.Stat(folder); folder != "." && os.IsNotExist(err) {
			continue
		}
		paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		paths = slices.DeleteFunc(paths, func(path string) bool {
			return strings.HasSuffix(path, "_test.go")
		})
		sources := map[string]string{}
		for _, path := range paths {
			sources[path] = readFile(t, path)
		}
		for _, found := range check.violations(sources) {
			if folder != "invariant" || !checkerMay.MatchString(found) {
				t.Error(found)
			}
		}
	}
}

// The test above can fail: each of these is found.
func TestImpurityIsFound(t *testing.T) {
	check := newPurityCheck(t, ".")
	for _, test := range []struct{ imports, body, want string }{
		{"os", "_ = os.Args", "imports os"},
		{"net/http", "_ = http.StatusOK", "imports net/http"},
		{"math/rand", "_ = rand.Int()", "imports math/rand"},
		{"sync", "var _ sync.Mutex", "imports sync"},
		{"context", "_ = context.Background()", "imports context"},
		{"time", "_ = time.Now()", "time.Now"},
		{"time", "_ = time.Since(time.Time{})", "time.Since"},
		{"time", "time.Sleep(1)", "time.Sleep"},
		{"time", "time.AfterFunc(1, nil)", "time.AfterFunc"},
		{"time", "now := time.Now; now()", "time.Now"},
		{"fmt", `fmt.Println("x")`, "fmt.Println"},
		{"log/slog", `slog.Info("x")`, "slog.Info"},
		{"", "go func() {}()", "go statement"},
		{"", "_ = make(chan int)", "channel"},
		{"", "select {}", "select"},
		{"", "for range map[int]int{} {}", "range over a map"},
		{"", "type m map[int]int; for range (m{}) {}", "range over a map"},
		{"maps", "for range maps.Keys(map[int]int{}) {}", "maps.Keys outside slices.Sorted"},
		{"maps", "for range maps.Values(map[int]int{}) {}", "maps.Values"},
		{"github.com/samber/lo", "_ = lo.Keys(map[int]int{})", "lo.Keys"},
		{"github.com/samber/lo", "_ = lo.Shuffle([]int{})", "lo.Shuffle"},
	} {
		source := "package p\n"
		if test.imports != "" {
			source += fmt.Sprintf("import %q\n", test.imports)
		}
		source += "func f() {\n" + test.body + "\n}\n"
		found := check.violations(map[string]string{"p.go": source})
		if len(found) == 0 || !strings.Contains(strings.Join(found, "; "), test.want) {
			t.Errorf("%s: found %q, want %s", test.body, found, test.want)
		}
	}
	pure := "package p\nimport (\"maps\"; \"slices\")\n" +
		"func f() []int { return slices.Sorted(maps.Keys(map[int]int{})) }\n"
	if found := check.violations(map[string]string{"p.go": pure}); len(found) > 0 {
		t.Errorf("what is pure is refused: %q", found)
	}
}

type purityCheck struct {
	t       *testing.T
	exports map[string]string
}

// newPurityCheck finds the compiled dependencies, for types; what the checked sources import
// besides them is not resolved, it is refused by its name anyway.
func newPurityCheck(t *testing.T, folder string) *purityCheck {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-e",
		"-f", "{{.ImportPath}} {{.Export}}", folder, "time", "os", "maps")
	command.Stderr = os.Stderr
	output, err := command.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	check := &purityCheck{t, map[string]string{}}
	for line := range strings.Lines(string(output)) {
		path, export, _ := strings.Cut(strings.TrimSpace(line), " ")
		check.exports[path] = export
	}
	return check
}

// violations checks the sources, by file name, of one package.
func (c *purityCheck) violations(sources map[string]string) []string {
	c.t.Helper()
	fileSet := token.NewFileSet()
	var files []*ast.File
	for name, source := range sources {
		file, err := parser.ParseFile(fileSet, name, source, parser.SkipObjectResolution)
		if err != nil {
			c.t.Fatal(err)
		}
		files = append(files, file)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{
		Error: func(error) {}, // Unresolved imports and unused ones.
		Importer: importer.ForCompiler(fileSet, "gc", func(path string) (io.ReadCloser, error) {
			if c.exports[path] == "" {
				return nil, fmt.Errorf("%s is not compiled", path)
			}
			return os.Open(c.exports[path])
		}),
	}
	_, _ = config.Check("p", fileSet, files, info)
	var found []string
	for _, file := range files {
		sorted := map[ast.Node]bool{}
		ast.Inspect(file, func(node ast.Node) bool {
			if what := impurity(node, info, sorted); what != "" {
				found = append(found, fmt.Sprintf("%s: %s", fileSet.Position(node.Pos()), what))
			}
			return true
		})
	}
	return found
}

// impurity names what is impure about a node. sorted holds the maps.Keys whose order does not
// matter, since slices.Sorted is around them.
func impurity(node ast.Node, info *types.Info, sorted map[ast.Node]bool) string {
	switch n := node.(type) {
	case *ast.ImportSpec:
		path := strings.Trim(n.Path.Value, `"`)
		if !slices.Contains(importable, path) {
			return "imports " + path
		}
	case *ast.GoStmt:
		return "a go statement"
	case *ast.ChanType:
		return "a channel"
	case *ast.SelectStmt:
		return "a select"
	case *ast.RangeStmt:
		if ranged := info.TypeOf(n.X); ranged != nil {
			if _, isMap := ranged.Underlying().(*types.Map); isMap {
				return mapRange
			}
		}
	case *ast.CallExpr:
		if path, name := qualified(n.Fun, info); path == "slices" && strings.HasPrefix(name, "Sorted") {
			if keys, isCall := n.Args[0].(*ast.CallExpr); isCall {
				sorted[keys.Fun] = true
			}
		}
	case *ast.SelectorExpr:
		path, name := qualified(n, info)
		if names, limited := usable[path]; limited && !slices.Contains(names, name) {
			return fmt.Sprintf("%s.%s", filepath.Base(path), name)
		}
		if path == "maps" && name == "Keys" && !sorted[n] {
			return "maps.Keys outside slices.Sorted"
		}
	}
	return ""
}

// qualified gives the import path and the name of pkg.Name; empty for anything else.
func qualified(expression ast.Expr, info *types.Info) (path, name string) {
	selector, isSelector := expression.(*ast.SelectorExpr)
	if !isSelector {
		return "", ""
	}
	identifier, isIdentifier := selector.X.(*ast.Ident)
	if !isIdentifier {
		return "", ""
	}
	imported, isPackage := info.Uses[identifier].(*types.PkgName)
	if !isPackage {
		return "", ""
	}
	return imported.Imported().Path(), selector.Sel.Name
}
