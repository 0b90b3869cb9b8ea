package invariant_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/core/invariant"
)

// unprovoked are what no test can bring about: a state is closed, and what can be grafted from
// other states are its lists, not the standing of one pod.
var unprovoked = []string{
	"%s is filed under %s",
	"%s is no candidate, but admitted, queued, in flight or armed",
	"%s is more than one of queued, in flight and armed",
	"%s waits for its agent in %d ways instead of %d",
}

var verb = regexp.MustCompile(`%[+]?[.0-9]*[a-zA-Z]`)

// TestEverySentenceIsProvoked: whatever the checks can say, a doctored story makes them say it.
func TestEverySentenceIsProvoked(t *testing.T) {
	said := provoked()
	for _, sentence := range sentences(t) {
		words := verb.Split(sentence, -1)
		for i := range words {
			words[i] = regexp.QuoteMeta(words[i])
		}
		pattern := regexp.MustCompile("(?s)^" + strings.Join(words, ".*") + "$")
		isSaid := slices.ContainsFunc(said, func(v invariant.Violation) bool {
			return pattern.MatchString(v.Detail)
		})
		if isSaid == slices.Contains(unprovoked, sentence) {
			t.Errorf("%q is said: %t", sentence, isSaid)
		}
	}
}

// provoked is all that the checks say to what is wrong.
func provoked() []invariant.Violation {
	var said []invariant.Violation
	for _, d := range doctoredStories {
		said = slices.Concat(said, watch(d), watch(d, invariant.Thorough()))
	}
	said = append(said, watch(changedPast(), invariant.Thorough())...)
	for _, state := range spoilt() {
		said = append(said, atOnce(state)...)
	}
	for _, test := range rests() {
		said = append(said, invariant.AtRest(test.state)...)
	}
	for _, reduce := range restless() {
		said = append(said, invariant.Converge(busy(), reduce)...)
	}
	return said
}

// spoilt are the states of which one part is another state's.
func spoilt() (states []core.State) {
	for _, field := range fields() {
		for _, donor := range others() {
			states = append(states, graft(busy(), field, donor))
		}
	}
	return states
}

// sentences are the formats of all violations in the package's source.
func sentences(t *testing.T) (formats []string) {
	t.Helper()
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(node ast.Node) bool {
			call, isCall := node.(*ast.CallExpr)
			if !isCall || len(call.Args) < 2 {
				return true
			}
			if method, is := call.Fun.(*ast.SelectorExpr); is && method.Sel.Name == "violate" {
				formats = append(formats, literal(t, call.Args[1]))
			}
			return true
		})
	}
	if len(formats) < 80 {
		t.Fatalf("only %d sentences found", len(formats))
	}
	return formats
}

// literal is the text of a constant string, joined or not.
func literal(t *testing.T, expression ast.Expr) string {
	t.Helper()
	switch e := expression.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		if err != nil {
			t.Fatal(err)
		}
		return text
	case *ast.BinaryExpr:
		return literal(t, e.X) + literal(t, e.Y)
	default:
		t.Fatalf("a violation with the format %T", expression)
		return ""
	}
}
