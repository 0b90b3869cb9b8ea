package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
)

func (m *mutator) mutateExpression(expression ast.Expr) {
	switch e := expression.(type) {
	case *ast.BinaryExpr:
		m.mutateBinary(e)
		return
	case *ast.UnaryExpr:
		if e.Op == token.NOT {
			m.negate(e, m.text(e.X))
			return
		}
	case *ast.BasicLit:
		m.shiftConstant(e)
	case *ast.Ident:
		if e.Name == "true" || e.Name == "false" {
			m.negate(e, "!"+e.Name)
			return
		}
	case *ast.CompositeLit:
		m.mutateLiteral(e)
	case *ast.CallExpr:
		m.mutateCall(e)
	}
	if m.found[expression] == isCondition {
		m.negate(expression, "!"+m.text(expression))
	}
}

func (m *mutator) negate(expression ast.Expr, change string) {
	id := m.add(expression, m.text(expression), change)
	m.wrap(expression, "((", ") != "+on(id)+")")
}

// comparisons have a boundary to move and an opposite.
var comparisons = map[token.Token]struct{ function, boundary, opposite string }{
	token.LSS: {"mutantLess", "<=", ">="},
	token.LEQ: {"mutantLessEqual", "<", ">"},
	token.GTR: {"mutantGreater", ">=", "<="},
	token.GEQ: {"mutantGreaterEqual", ">", "<"},
}

// operators become another one.
var operators = map[token.Token]struct{ function, other string }{
	token.ADD: {"mutantAdd", "-"},
	token.SUB: {"mutantSubtract", "+"},
	token.MUL: {"mutantMultiply", "/"},
	token.QUO: {"mutantDivide", "*"},
	token.REM: {"mutantRemainder", "*"},
	token.AND: {"mutantBitAnd", "|"},
	token.OR:  {"mutantBitOr", "&"},
	token.XOR: {"mutantBitXor", "&"},
}

func (m *mutator) mutateBinary(e *ast.BinaryExpr) {
	with := func(operator string) string { return m.text(e.X) + " " + operator + " " + m.text(e.Y) }
	switch e.Op {
	case token.LAND, token.LOR:
		function, other := "mutantAnd", "||"
		if e.Op == token.LOR {
			function, other = "mutantOr", "&&"
		}
		id := m.add(e, m.text(e), with(other))
		m.call(e, fmt.Sprintf("%s(%d, ", function, id), ", func() bool { return (", ") })")
		for _, operand := range []ast.Expr{e.X, e.Y} {
			m.found[operand] = isCondition
		}
	case token.EQL:
		m.negate(e, with("!="))
	case token.NEQ:
		m.negate(e, with("=="))
	default:
		if comparison, is := comparisons[e.Op]; is {
			boundary := m.add(e, m.text(e), with(comparison.boundary))
			opposite := m.add(e, m.text(e), with(comparison.opposite))
			m.call(e, fmt.Sprintf("%s(%d, %d, ", comparison.function, boundary, opposite), ",", ")")
		}
		if operator, is := operators[e.Op]; is && isInteger(m.source.info.TypeOf(e)) {
			id := m.add(e, m.text(e), with(operator.other))
			m.call(e, fmt.Sprintf("%s(%d, ", operator.function, id), ",", ")")
		}
	}
}

// call makes a call of a binary expression.
func (m *mutator) call(e *ast.BinaryExpr, before, between, after string) {
	m.wrap(e, before, after)
	operator := m.offset(e.OpPos)
	m.edits.replace(operator, operator+len(e.Op.String()), between)
}

func isInteger(t types.Type) bool {
	basic, isBasic := t.Underlying().(*types.Basic)
	return isBasic && basic.Info()&types.IsInteger != 0
}

// shiftConstant: one more, and one less.
func (m *mutator) shiftConstant(e *ast.BasicLit) {
	if e.Kind != token.INT {
		return
	}
	up := m.add(e, e.Value, e.Value+" + 1")
	down := m.add(e, e.Value, e.Value+" - 1")
	m.wrap(e, fmt.Sprintf("mutantNear[%s](%d, %d, ", m.typeName(e), up, down), ")")
}

// typeName is how the file writes the type of an expression.
func (m *mutator) typeName(e ast.Expr) string {
	return types.TypeString(types.Default(m.source.info.TypeOf(e)), func(p *types.Package) string {
		if p == m.source.types {
			return ""
		}
		return p.Name()
	})
}

// mutateLiteral: a field is forgotten; neighbours of a list change places.
func (m *mutator) mutateLiteral(e *ast.CompositeLit) {
	switch m.source.info.TypeOf(e).Underlying().(type) {
	case *types.Struct, *types.Map:
		for _, element := range e.Elts {
			value := element
			if pair, isPair := element.(*ast.KeyValueExpr); isPair {
				value = pair.Value
			}
			literal, isLiteral := value.(*ast.CompositeLit)
			if isLiteral && literal.Type == nil || m.source.info.Types[value].IsNil() {
				continue // it has no type of its own, so it cannot stand elsewhere
			}
			id := m.add(element, m.text(element), "zero")
			m.wrap(value, fmt.Sprintf("mutantZero[%s](%d, ", m.typeName(value), id), ")")
		}
	case *types.Array, *types.Slice:
		m.swapNeighbours(e.Elts)
	}
}

// swapNeighbours needs elements that have a type of their own.
func (m *mutator) swapNeighbours(elements []ast.Expr) {
	for _, element := range elements {
		literal, isLiteral := element.(*ast.CompositeLit)
		_, isPair := element.(*ast.KeyValueExpr)
		if isPair || isLiteral && literal.Type == nil || m.typeName(element) != m.typeName(elements[0]) {
			return
		}
	}
	const never = -1
	swap := never
	for i, element := range elements {
		previous, next := element, element
		withPrevious, withNext := swap, never
		if i > 0 {
			previous = elements[i-1]
		}
		if i < len(elements)-1 {
			next = elements[i+1]
			swap = m.add(element, m.text(element)+", "+m.text(next), "swapped")
			withNext = swap
		}
		if len(elements) > 1 {
			m.wrap(element, fmt.Sprintf("mutantSwapped[%s](%d, %d, ",
				m.typeName(element), withPrevious, withNext),
				", "+m.text(previous)+", "+m.text(next)+")")
		}
	}
}

// mutateCall: a function that gives the type that it takes is left out; min and max change places;
// so do neighbours in a list of arguments of any length.
func (m *mutator) mutateCall(e *ast.CallExpr) {
	if name, isName := e.Fun.(*ast.Ident); isName && (name.Name == "min" || name.Name == "max") {
		other := map[string]string{"min": "max", "max": "min"}[name.Name]
		instead := other + m.text(e)[len(name.Name):]
		id := m.add(e, m.text(e), instead)
		m.wrap(e, fmt.Sprintf("mutantInstead(%d, ", id), ", "+instead+")")
		return
	}
	signature, isFunction := m.source.info.TypeOf(e.Fun).Underlying().(*types.Signature)
	if isFunction && signature.Variadic() && !e.Ellipsis.IsValid() {
		m.swapNeighbours(e.Args[min(signature.Params().Len()-1, len(e.Args)):])
	}
	selector, isSelector := e.Fun.(*ast.SelectorExpr)
	if !isSelector || len(e.Args) != 1 || e.Ellipsis.IsValid() {
		return
	}
	identifier, isIdentifier := selector.X.(*ast.Ident)
	if !isIdentifier {
		return
	}
	if _, isPackage := m.source.info.Uses[identifier].(*types.PkgName); !isPackage {
		return
	}
	argument := e.Args[0]
	if types.Identical(m.source.info.TypeOf(argument), m.source.info.TypeOf(e)) {
		id := m.add(e, m.text(e), m.text(argument))
		m.wrap(e, fmt.Sprintf("mutantInstead(%d, ", id), ", "+m.text(argument)+")")
	}
}
