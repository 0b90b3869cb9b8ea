// Package embedding is a small controller that embeds discovery, to be read and copied: it writes
// one configuration to the agents of a fleet, and has an informer, a bus and an election of its
// own, as controllers do.
//
//	controller.go  puts the parts together, and runs them until all have ended
//	bus.go         a shell.Bus: whatever happens reaches discovery on it, what it finds comes back
//	election.go    by Lease: who leads writes; discovery runs on every replica
//	deployer.go    acts on Terminated and Discovered
//	connection.go  one agent, as long as it may be talked to
//
// What matters, and is easily missed:
//
//   - The deployer hears of leadership before discovery does. The other way round, the replay that a
//     new leader gets may come while the deployer still takes itself for a follower.
//   - Terminated ends the connection before the handler returns, a request under way included. Hence
//     Discovered need not look for what is gone: Terminated came first.
//   - The lease is given up after the last write has ended, not before.
//   - The error of Component.Start ends the program.
//
// It is a module of its own, as any program that embeds discovery, so it cannot but keep to what
// the library exports. The tests run it on a real API server.
package embedding
