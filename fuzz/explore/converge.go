package explore

// quietGraph has, of every state, the moves that go on by themselves once nothing new happens: any
// outstanding probe answers with a version, any armed timer fires. A state without such a move was
// checked to be at rest. If the graph has no cycle, then every way through it, in whatever order
// probes and timers come, ends at rest after finitely many steps (I10).
type quietGraph struct {
	// first is where the edges of a state begin; those of the last one end where all do.
	first   []uint32
	targets []uint32
	moves   []byte
}

// quietEdge leads to a state, or to one of those that a chunk has found and that have no number yet.
type quietEdge struct {
	target uint32
	move   byte
	isNew  bool
}

// add takes the edges of the next state in.
func (g *quietGraph) add(edges []quietEdge) {
	g.first = append(g.first, uint32(len(g.targets)))
	for _, edge := range edges {
		g.targets = append(g.targets, edge.target)
		g.moves = append(g.moves, edge.move)
	}
}

func (g *quietGraph) edges(state uint32) (from, to uint32) {
	from, to = g.first[state], uint32(len(g.targets))
	if int(state)+1 < len(g.first) {
		to = g.first[state+1]
	}
	return from, to
}

// The height of a state is the length of the longest quiet way from it, plus 1.
const (
	unvisited = 0
	underway  = 0xffff
)

// visit is a state on the way of the depth-first search, and the edge that is taken next.
type visit struct {
	state uint32
	edge  uint32
}

// longest gives the length of the longest quiet way, or a state on a cycle and the moves round it.
func (g *quietGraph) longest() (steps int, cycleAt uint32, cycle []byte) {
	heights := make([]uint16, len(g.first))
	for state := range heights {
		if heights[state] != unvisited {
			continue
		}
		if at, moves := g.descend(uint32(state), heights); moves != nil {
			return 0, at, moves
		}
		steps = max(steps, int(heights[state])-1)
	}
	return steps, 0, nil
}

func (g *quietGraph) descend(root uint32, heights []uint16) (cycleAt uint32, cycle []byte) {
	heights[root] = underway
	from, _ := g.edges(root)
	way := []visit{{root, from}}
	for len(way) > 0 {
		top := &way[len(way)-1]
		if _, to := g.edges(top.state); top.edge == to {
			heights[top.state] = g.height(top.state, heights)
			way = way[:len(way)-1]
			continue
		}
		target := g.targets[top.edge]
		top.edge++
		switch heights[target] {
		case underway:
			return target, g.movesSince(way, target)
		case unvisited:
			heights[target] = underway
			from, _ := g.edges(target)
			way = append(way, visit{target, from})
		}
	}
	return 0, nil
}

func (g *quietGraph) height(state uint32, heights []uint16) uint16 {
	height := uint16(1)
	from, to := g.edges(state)
	for _, target := range g.targets[from:to] {
		height = max(height, heights[target]+1)
	}
	return height
}

// movesSince lists the moves on the way since it was at a state.
func (g *quietGraph) movesSince(way []visit, state uint32) []byte {
	var moves []byte
	for _, visit := range way {
		if visit.state == state {
			moves = moves[:0]
		}
		moves = append(moves, g.moves[visit.edge-1])
	}
	return moves
}

// resolve follows all quiet ways to their ends.
func (s *search) resolve() {
	steps, at, cycle := s.quiet.longest()
	if cycle != nil {
		s.fail(&failure{state: at, then: cycle, proof: byConvergence, violations: violated(
			"I10", "convergence", "a cycle of %d quiet steps never comes to rest", len(cycle))})
		return
	}
	s.result.QuietSteps = steps
}
