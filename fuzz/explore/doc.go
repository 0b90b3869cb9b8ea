// Package explore visits every state that a small world can reach, and checks every transition.
//
// A [World] is a few pods and an alphabet of moves: pods that come, change and go, agents that
// answer, fail or answer too late, timers that fire, settings that change. Every move can happen in
// every state in which it makes sense, and in many in which it does not, so all interleavings of
// them are explored, with stale, doubled and reordered facts among them. [Explore] goes through them
// breadth first until nothing new is found; a world that does not end is a failure, too.
//
// # What is checked
//
//   - Package invariant checks each transition.
//   - What has ended and comes again changes nothing: timers that fire twice or after they were
//     stopped, second results of a probe.
//   - A state that was expanded says what it said when it was found (I9).
//   - Once nothing new happens, every order in which agents answer and timers fire leads to rest
//     (I10): the graph of those moves has no cycle, and each of its ends is a complete, published
//     fleet with nothing outstanding and nothing armed.
//
// # What makes the space finite
//
// States are merged by a digest that leaves out what only tells how much has happened: the numbers
// of probes, timers and generations, and the number of attempts. Moves name probes and timers by
// what they are for. That merged states behave alike is tested, not assumed: on small worlds, every
// state that is merged into another one is compared with it at every possible next move.
//
// # When something does not hold
//
// The search ends with a [Counterexample], by a shortest way: as an input log for
// `haproxy-discovery replay LOG --check`, and as a Go test that fails until the bug is gone.
//
// `make explore` explores all worlds of worlds.go; the ordinary tests explore one.
package explore
