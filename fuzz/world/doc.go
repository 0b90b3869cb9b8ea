// Package world plays the reducer's life in a simulated world, on virtual time: a cluster of pods
// that come, change, fail and go, a store that hears of them late, agents of every mood, operators
// who rotate credentials, change the config and swap stores, changes of leader, and a consumer that
// acts on what it is told as a deployer would. What core wants done decides what comes next: a
// probe ends when its agent has answered or its time is over, a timer fires when it is due.
//
// After each input, package invariant and the naive oracle look at what came of it; the consumer
// complains if it would talk to a pod that is gone, replaced or terminated; and once the chaos
// ends, what it holds must be what there is (I10).
//
// A run is decided by its Plan, and a Plan by one seed. Each run switches classes of events on and
// off (classes.go), so that rare mixes occur. Nobody keeps a story: one that fails is played again
// with a Log, and since a Plan is drawn by rapid, rapid shrinks it to a short one.
//
//   - plan.go, classes.go: what is decided, and how
//   - open.go, turns.go, settle.go: the beginning, the chaos, the end
//   - cluster.go, agents.go, operators.go: who acts
//   - shell.go, timers.go, clock.go: what lies between them and core
//   - consumer.go, keepsake.go, run.go: who looks at what came of it
package world
