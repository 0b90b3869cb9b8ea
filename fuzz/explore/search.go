package explore

import (
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell/inputlog"
)

// chunkStates is how many states a worker takes at a time; batchChunks how many chunks are expanded
// before their successors are entered, which bounds the memory that doubles among them take.
const (
	chunkStates = 128
	batchChunks = 64
)

// Explore visits every state that a world can reach, breadth first, and checks every transition. It
// uses all processors and needs about 50 bytes for each state, beside the states of two layers. The
// result does not depend on the number of processors. progress, if not nil, is told what there is
// after each layer.
func Explore(world World, reduce Reduce, progress func(Result)) Result {
	began := time.Now()
	s := &search{
		world: world, reduce: reduce, seen: map[digest]uint32{},
		result: Result{World: world, coverage: newCoverage()},
	}
	for range runtime.GOMAXPROCS(0) {
		s.workers = append(s.workers, worker{newDigester(), newChecker(), inputlog.NewDigester()})
	}
	s.run(func() {
		if progress != nil {
			progress(s.after(began))
		}
	})
	return s.after(began)
}

// search is one exploration under way. States are numbered in the order in which they are found.
type search struct {
	world   World
	reduce  Reduce
	workers []worker

	seen map[digest]uint32
	// parents and moves tell of each state how it was first reached, which is a shortest way.
	parents []uint32
	moves   []byte
	quiet   quietGraph
	// frontier are the states found and not yet expanded, from number expanded on.
	frontier []core.State
	expanded int

	result Result
}

// after is the result so far.
func (s *search) after(began time.Time) Result {
	result := s.result
	result.States, result.Took = len(s.parents), time.Since(began)
	return result
}

func (s *search) run(progress func()) {
	state, failure := s.begin()
	if failure != nil {
		s.fail(failure)
		return
	}
	s.enter(s.workers[0].digester.sum(state), state, 0, 0)
	for len(s.frontier) > 0 {
		layer := s.frontier
		s.frontier = nil
		s.result.Depth++
		for len(layer) > 0 {
			batch := layer[:min(len(layer), chunkStates*batchChunks)]
			layer = layer[len(batch):]
			if failure := s.expandAll(batch); failure != nil {
				s.fail(failure)
				return
			}
			clear(batch)
		}
		progress()
	}
	s.result.Depth-- // The last layer has led to nothing new.
	s.resolve()
}

// begin reduces the inputs before the exploration, checked like all others.
func (s *search) begin() (core.State, *failure) {
	state := core.New(s.world.Config)
	for number, input := range s.world.Start {
		after, effects, violations := safely(s.reduce, state, input)
		if violations == nil {
			violations = newChecker().check(true, state, input, after, effects)
		}
		if violations != nil {
			return state, &failure{violations: violations, start: number + 1}
		}
		s.result.coverage.note(input, effects)
		state = after
	}
	return state, nil
}

// enter gives a state its number, if it is new.
func (s *search) enter(sum digest, state core.State, parent uint32, move byte) uint32 {
	if number, found := s.seen[sum]; found {
		return number
	}
	number := uint32(len(s.parents))
	s.seen[sum] = number
	s.parents = append(s.parents, parent)
	s.moves = append(s.moves, move)
	s.frontier = append(s.frontier, state)
	return number
}

// expandAll expands a batch in parallel, then enters what was found, in order.
func (s *search) expandAll(batch []core.State) *failure {
	chunks := make([]*expansion, (len(batch)+chunkStates-1)/chunkStates)
	var next atomic.Int64
	var group errgroup.Group
	for _, worker := range s.workers {
		group.Go(func() error {
			for {
				number := int(next.Add(1)) - 1
				if number >= len(chunks) {
					return nil
				}
				first := number * chunkStates
				states := batch[first:min(len(batch), first+chunkStates)]
				chunks[number] = newExpansion(s, worker, s.expanded+first)
				chunks[number].expand(states)
			}
		})
	}
	_ = group.Wait()
	for _, chunk := range chunks {
		if failure := s.merge(chunk); failure != nil {
			return failure
		}
	}
	s.expanded += len(batch)
	return nil
}

func (s *search) merge(e *expansion) *failure {
	s.result.Transitions += e.transitions
	s.result.coverage.add(e.coverage)
	if e.failure != nil {
		return e.failure
	}
	numbers := make([]uint32, len(e.found))
	for i, found := range e.found {
		numbers[i] = s.enter(found.digest, found.state, found.parent, found.move)
	}
	for _, edges := range e.quiet {
		for i := range edges {
			if edges[i].isNew {
				edges[i].target = numbers[edges[i].target]
			}
		}
		s.quiet.add(edges)
	}
	if s.world.MaxStates > 0 && len(s.parents) > s.world.MaxStates {
		return &failure{
			state: uint32(len(s.parents)) - 1,
			violations: violated("space", "the space closes",
				"more than %d states", s.world.MaxStates),
		}
	}
	return nil
}

// failure is what was found wrong: at a state, in the move that leads on from it, or in several.
type failure struct {
	violations []violation
	state      uint32
	then       []byte
	proof      proof
	// echo is what came once more after all that.
	echo core.Input
	// start is set where it is not even the start: the number of its inputs until then.
	start int
}

// fail reports a failure by the way that leads to it.
func (s *search) fail(f *failure) {
	example := &Counterexample{
		World: s.world, Violations: f.violations, proof: f.proof, reduce: s.reduce,
	}
	s.result.Counterexample = example
	if f.start > 0 {
		example.Inputs = s.world.Start[:f.start]
		return
	}
	moves := append(s.wayTo(f.state), f.then...)
	for _, number := range moves {
		example.Moves = append(example.Moves, s.world.Moves[number].Name)
	}
	last, inputs := s.world.follow(s.reduce, moves)
	example.Inputs = inputs
	switch f.proof {
	case byEcho:
		example.Moves = append(example.Moves, "the same end again")
		example.Inputs = append(example.Inputs, f.echo)
	case byPurity, byRestoring:
		example.branches = s.world.alphabet(last)
	}
}

// wayTo lists the moves from the start to a state.
func (s *search) wayTo(state uint32) []byte {
	var reversed []byte
	for ; state != 0; state = s.parents[state] {
		reversed = append(reversed, s.moves[state])
	}
	slices.Reverse(reversed)
	return reversed
}
