package explore

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// In the worlds, agents fail in one way only: the reducer treats all causes of a failure alike.
var unexplored = []core.Cause{
	core.CauseTimeout, core.CauseTLS, core.CauseUnauthorized, core.CauseUnexpectedStatus,
	core.CauseTooLarge, core.CauseTruncated, core.CauseInvalidDocument,
	core.CauseUnsupportedAPIVersion, core.CauseOther,
}

// TestCoverageAsksForAllOfCore: what core declares, the exploration has to see.
func TestCoverageAsksForAllOfCore(t *testing.T) {
	asked := newCoverage().missing()
	for _, cause := range unexplored {
		asked = append(asked, "Rejected "+string(cause))
	}
	asked = append(asked, kindOf(core.HAProxyPodsDiscovered{}), kindOf(core.HAProxyPodTerminated{}),
		kindOf(core.HAProxyPodRejected{}), kindOf(nil), "Discovered", "Discovered replay")
	declared := []string{kindOf(nil), "Discovered", "Discovered replay"}
	declared = append(declared, declaredKinds(t)...)
	declared = append(declared, declaredCauses(t)...)
	slices.Sort(asked)
	slices.Sort(declared)
	if asked = slices.Compact(asked); !slices.Equal(asked, declared) {
		t.Errorf("asked for is\n%s\ninstead of\n%s",
			strings.Join(asked, "\n"), strings.Join(declared, "\n"))
	}
}

// declaredKinds are the types of inputs, effects and events.
func declaredKinds(t *testing.T) (names []string) {
	for _, file := range parsedCore(t) {
		for _, declaration := range file.Decls {
			method, is := declaration.(*ast.FuncDecl)
			if is && slices.Contains([]string{"isInput", "isEffect", "isEvent"}, method.Name.Name) {
				names = append(names, method.Recv.List[0].Type.(*ast.Ident).Name)
			}
		}
	}
	return names
}

// declaredCauses are the causes with the events that tell them. CauseMalformed is one of both.
func declaredCauses(t *testing.T) (names []string) {
	names = append(names, "Rejected "+string(core.CauseMalformed))
	for _, file := range parsedCore(t) {
		for _, declaration := range file.Decls {
			block, _ := declaration.(*ast.GenDecl)
			if block == nil || block.Tok != token.CONST {
				continue
			}
			event := ""
			switch text := block.Doc.Text(); {
			case strings.HasPrefix(text, "The causes of a rejection"):
				event = "Rejected "
			case strings.HasPrefix(text, "The causes of a termination"):
				event = "Terminated "
			}
			for _, cause := range causes(t, block) {
				if event == "" {
					t.Errorf("cause %s is declared apart from the others", cause)
				}
				names = append(names, event+cause)
			}
		}
	}
	return names
}

func causes(t *testing.T, block *ast.GenDecl) (values []string) {
	for _, spec := range block.Specs {
		constant := spec.(*ast.ValueSpec)
		if kind, _ := constant.Type.(*ast.Ident); kind == nil || kind.Name != "Cause" {
			continue
		}
		value, err := strconv.Unquote(constant.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, value)
	}
	return values
}

func parsedCore(t *testing.T) map[string]*ast.File {
	t.Helper()
	packages, err := parser.ParseDir(token.NewFileSet(), "../../core", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	return packages["core"].Files
}
