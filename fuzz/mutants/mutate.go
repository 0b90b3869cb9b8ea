package main

import (
	"fmt"
	"go/ast"
	"go/token"
)

// mutated is a package with all its mutants in it, turned off.
type mutated struct {
	mutants []Mutant
	// files are the new texts by file name.
	files map[string][]byte
}

// mutate finds the places that can be changed, and puts a switch into each.
func mutate(source *source) mutated {
	result := mutated{files: map[string][]byte{}}
	known := map[name]int{}
	for _, file := range source.files {
		m := mutator{source: source, file: file, result: &result, known: known, found: marks{}}
		for _, declaration := range file.ast.Decls {
			if function, isFunction := declaration.(*ast.FuncDecl); isFunction && function.Body != nil {
				m.mutateFunction(function)
			}
		}
		result.files[file.name] = m.edits.apply(file.text)
	}
	return result
}

// mutator works through one file, from the outside in.
type mutator struct {
	source *source
	file   sourceFile
	result *result
	edits  edits
	known  map[name]int

	function string
	found    marks
}

type result = mutated

// marks are what is known of a node before it is come to.
type marks map[ast.Node]mark

type mark int

const (
	// isCondition marks what an if, a for or a case asks.
	isCondition mark = iota + 1
	// isFixed marks what has to stay as it is, since the language asks for a constant.
	isFixed
)

func (m *mutator) mutateFunction(function *ast.FuncDecl) {
	m.function = function.Name.Name
	if function.Recv != nil {
		m.function = receiverName(function.Recv.List[0].Type) + "." + m.function
	}
	m.returnAtOnce(function.Type, function.Body)
	ast.Inspect(function.Body, func(node ast.Node) bool {
		if node == nil {
			return true
		}
		return m.visit(node)
	})
}

func receiverName(receiver ast.Expr) string {
	switch r := receiver.(type) {
	case *ast.StarExpr:
		return receiverName(r.X)
	case *ast.IndexExpr:
		return receiverName(r.X)
	case *ast.Ident:
		return r.Name
	}
	return "?"
}

// visit changes one node; false keeps what is inside it as it is.
func (m *mutator) visit(node ast.Node) bool {
	switch n := node.(type) {
	case *ast.GenDecl:
		return n.Tok != token.CONST
	case *ast.ArrayType:
		if n.Len != nil {
			m.found[n.Len] = isFixed
		}
	case *ast.FuncLit:
		m.returnAtOnce(n.Type, n.Body)
	case *ast.BlockStmt:
		m.removeStatements(n.List)
	case *ast.CaseClause:
		m.removeStatements(n.Body)
	case *ast.IfStmt:
		m.found[n.Cond] = isCondition
	case *ast.ForStmt:
		if n.Cond != nil {
			m.found[n.Cond] = isCondition
		}
	case *ast.SwitchStmt:
		m.removeCases(n.Body, n.Tag == nil)
	case *ast.TypeSwitchStmt:
		m.removeCases(n.Body, false)
	case ast.Expr:
		if m.found[n] == isFixed {
			return false
		}
		m.mutateExpression(n)
	}
	return true
}

// add registers a mutant and gives the number that turns it on.
func (m *mutator) add(node ast.Node, original, change string) int {
	named := name{
		File: m.file.name, Function: m.function, Original: oneLine(original), Change: oneLine(change),
	}
	m.known[named]++
	nth := m.known[named]
	named.Nth = nth
	id := len(m.result.mutants) + 1
	line := m.source.set.Position(node.Pos()).Line
	m.result.mutants = append(m.result.mutants, Mutant{ID: id, Line: line, name: named})
	return id
}

func (m *mutator) offset(position token.Pos) int { return m.source.set.Position(position).Offset }

func (m *mutator) text(node ast.Node) string {
	return string(m.file.text[m.offset(node.Pos()):m.offset(node.End())])
}

func (m *mutator) wrap(node ast.Node, before, after string) {
	m.edits.wrap(m.offset(node.Pos()), m.offset(node.End()), before, after)
}

// on is the code that asks whether a mutant is turned on.
func on(id int) string { return fmt.Sprintf("mutantOn(%d)", id) }
