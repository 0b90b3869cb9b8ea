package podstream

type span struct{ start, end int }

// wholeObjects finds the complete objects that begin a line inside a broken object, the outermost
// ones, in order. readable is the beginning of the broken object up to where its syntax fails.
//
// An object that was cut behind a colon, a comma or an opening bracket goes on, as far as the
// syntax tells, with the whole object behind it; only what follows that one shows the fault.
func wholeObjects(readable []byte) []span {
	type opened struct{ start, depth int }
	var whole []span
	var open []opened
	var inString, escaped bool
	depth := 0
	for i, c := range readable {
		switch {
		case escaped:
			escaped = false
		case inString:
			escaped, inString = c == '\\', c != '"'
		case c == '"':
			inString = true
		case c == '{' || c == '[':
			depth++
			if c == '{' && i > 0 && readable[i-1] == '\n' {
				open = append(open, opened{start: i, depth: depth})
			}
		case c == '}' || c == ']':
			if last := len(open) - 1; last >= 0 && open[last].depth == depth {
				whole = appendOutermost(whole, span{start: open[last].start, end: i + 1})
				open = open[:last]
			}
			depth--
		}
	}
	return whole
}

// appendOutermost drops the spans that lie inside the new one.
func appendOutermost(spans []span, outer span) []span {
	for len(spans) > 0 && spans[len(spans)-1].start > outer.start {
		spans = spans[:len(spans)-1]
	}
	return append(spans, outer)
}
