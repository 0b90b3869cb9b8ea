package explore

import (
	"slices"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/core/invariant"
	"github.com/haproxy-discovery/haproxy-discovery/shell/inputlog"
)

// expansion makes every move in each state of a chunk. Of the search it only reads, so that chunks
// can be expanded at the same time.
type expansion struct {
	search *search
	worker
	// first is the number of the chunk's first state.
	first int

	found   []successor
	numbers map[digest]uint32
	// quiet has the edges of each state, in order.
	quiet       [][]quietEdge
	transitions int
	coverage    coverage
	failure     *failure
}

// worker is what one goroutine needs for itself.
type worker struct {
	digester *digester
	checker  *checker
	effects  *inputlog.Digester
}

// successor is a state that was not known before the batch.
type successor struct {
	digest digest
	state  core.State
	parent uint32
	move   byte
}

func newExpansion(s *search, w worker, first int) *expansion {
	return &expansion{
		search: s, worker: w, first: first,
		numbers: map[digest]uint32{}, coverage: newCoverage(),
	}
}

func (e *expansion) expand(states []core.State) {
	for i, state := range states {
		if e.expandOne(uint32(e.first+i), state); e.failure != nil {
			return
		}
	}
}

func (e *expansion) expandOne(number uint32, state core.State) {
	var edges []quietEdge
	for moveNumber, move := range e.search.world.Moves {
		input, can := move.In(state)
		if !can {
			continue
		}
		next, wrong := e.step(number, state, input)
		if wrong != nil {
			wrong.state, wrong.then = number, []byte{byte(moveNumber)}
			e.failure = wrong
			return
		}
		next.parent, next.move = number, byte(moveNumber)
		edge := e.enter(next)
		if move.Quiet {
			edges = append(edges, edge)
		}
	}
	e.quiet = append(e.quiet, edges)
	if e.failure = e.checkState(number, state, len(edges) == 0); e.failure == nil && e.search.isRestored(number) {
		e.failure = e.checkRestored(number, state)
	}
}

// step makes a transition and checks it.
func (e *expansion) step(
	number uint32, state core.State, input core.Input,
) (next successor, wrong *failure) {
	e.transitions++
	after, effects, violations := safely(e.search.reduce, state, input)
	if violations != nil {
		return next, &failure{violations: violations}
	}
	e.coverage.note(input, effects)
	if violations := e.checker.check(isThorough(number), state, input, after, effects); violations != nil {
		return next, &failure{violations: violations}
	}
	next = successor{digest: e.digester.sum(after), state: after}
	return next, e.checkEchoes(input, next, effects)
}

// checkEchoes: what has ended and yet comes again changes nothing (R24): a timer that was stopped
// while it fired, or that fires twice, and a second result of a probe.
func (e *expansion) checkEchoes(
	input core.Input, next successor, effects []core.Effect,
) *failure {
	var echoes []core.Input
	switch input.(type) {
	case core.TimerFired, core.ProbeFinished:
		echoes = append(echoes, input)
	}
	for _, effect := range effects {
		if stop, isStop := effect.(core.StopTimer); isStop {
			echoes = append(echoes, core.TimerFired{Timer: stop.Timer})
		}
	}
	for _, echo := range echoes {
		again, effects, violations := safely(e.search.reduce, next.state, echo)
		isRefuse := func(effect core.Effect) bool { _, is := effect.(core.Refuse); return is }
		news := slices.DeleteFunc(effects, isRefuse)
		if violations == nil && (len(news) > 0 || e.digester.sum(again) != next.digest) {
			violations = violated("R24", "what has ended changes nothing",
				"%T comes after its end, and %d effects follow", echo, len(news))
		}
		if violations != nil {
			return &failure{violations: violations, proof: byEcho, echo: echo}
		}
	}
	return nil
}

// checkState: once its successors are known, the state itself says what it said when it was entered
// (I9), and if nothing goes on in it by itself, everything has come to its end (I10).
func (e *expansion) checkState(number uint32, state core.State, atRest bool) *failure {
	if is, found := e.search.seen[e.digester.sum(state)]; !found || is != number {
		return &failure{state: number, proof: byPurity, violations: violated(
			"I9", "purity", "a state has changed since it was reached")}
	}
	if !atRest {
		return nil
	}
	if violations := invariant.AtRest(state); violations != nil {
		return &failure{state: number, proof: byConvergence, violations: violations}
	}
	return nil
}

// enter notes a successor; what the search knows already is an edge only.
func (e *expansion) enter(s successor) quietEdge {
	if number, known := e.search.seen[s.digest]; known {
		return quietEdge{target: number, move: s.move}
	}
	number, found := e.numbers[s.digest]
	if !found {
		number = uint32(len(e.found))
		e.numbers[s.digest] = number
		e.found = append(e.found, s)
	}
	return quietEdge{target: number, move: s.move, isNew: true}
}
