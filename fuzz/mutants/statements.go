package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"
)

// returnAtOnce: the function does nothing and gives zeros.
func (m *mutator) returnAtOnce(function *ast.FuncType, body *ast.BlockStmt) {
	if len(body.List) == 0 {
		return
	}
	var zeros []string
	if function.Results != nil {
		for _, field := range function.Results.List {
			for range max(1, len(field.Names)) {
				zeros = append(zeros, "*new("+m.text(field.Type)+")")
			}
		}
	}
	id := m.add(body, "{ "+m.text(body.List[0]), "return at once")
	m.edits.replace(m.offset(body.Lbrace)+1, m.offset(body.Lbrace)+1,
		fmt.Sprintf(" if %s { return %s };", on(id), strings.Join(zeros, ", ")))
}

// removeStatements: each statement that declares nothing is left out. Of an if without else, it is
// as if its condition never held.
func (m *mutator) removeStatements(list []ast.Stmt) {
	for _, statement := range list {
		switch s := statement.(type) {
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE {
				continue
			}
		case *ast.IfStmt:
			if s.Else == nil {
				id := m.add(s, "if "+m.text(s.Cond)+" {…}", "removed")
				m.wrap(s.Cond, "(", ") && !"+on(id))
			}
			continue
		case *ast.RangeStmt:
			id := m.add(s, "for range "+m.text(s.X)+" {…}", "removed")
			m.wrap(s, "if !"+on(id)+" { ", " }")
			continue
		case *ast.ExprStmt, *ast.IncDecStmt, *ast.BranchStmt:
		default:
			continue
		}
		id := m.add(statement, m.text(statement), "removed")
		m.wrap(statement, "if !"+on(id)+" { ", " }")
	}
}

// removeCases: what falls under a case falls to the next ones that fit, which without conditions of
// their own is the default.
func (m *mutator) removeCases(body *ast.BlockStmt, ofConditions bool) {
	fallback := m.defaultCase(body)
	for _, statement := range body.List {
		clause := statement.(*ast.CaseClause)
		if clause.List == nil {
			continue
		}
		if ofConditions {
			for _, condition := range clause.List {
				m.found[condition] = isCondition
				id := m.add(condition, "case "+m.text(condition), "removed")
				m.wrap(condition, "(", ") && !"+on(id))
			}
			continue
		}
		if len(clause.Body) == 0 && fallback == "" {
			continue
		}
		first, last := clause.List[0], clause.List[len(clause.List)-1]
		cases := m.file.text[m.offset(first.Pos()):m.offset(last.End())]
		id := m.add(clause, "case "+string(cases), "removed")
		m.edits.wrap(m.offset(clause.Colon)+1, m.offset(clause.End()),
			fmt.Sprintf(" if %s { %s\n} else {", on(id), fallback), "\n}")
	}
}

// defaultCase is the code of a switch's default.
func (m *mutator) defaultCase(body *ast.BlockStmt) string {
	for _, statement := range body.List {
		clause := statement.(*ast.CaseClause)
		if clause.List == nil && len(clause.Body) > 0 {
			start, end := clause.Body[0].Pos(), clause.Body[len(clause.Body)-1].End()
			return string(m.file.text[m.offset(start):m.offset(end)])
		}
	}
	return ""
}
