// Package checking runs the invariants (core/invariant) on each step of a live component. It stands
// apart so that programs that do not want it need not compile it:
//
//	checker := checking.New(logger, nil)
//	component := shell.New(bus, logger, shell.WithObserver(checker))
//
// States are persistent, so the checking goes on beside the loop: the loop only puts each step into
// a buffer, and a goroutine follows. Should it fall behind until the buffer is full, steps are left
// unchecked, counted and told, and the history is taken up again from a later state. The loop waits
// for none of this.
//
// What is checked are the invariants as a cheap monitor sees them: the pods that a step touches and
// the books of probes, timers and publications. A violation tells of a bug in discovery. It is
// logged and counted, and discovery goes on; record the inputs (shell/recording) to see how it came
// about. The counts, or the hook that New takes, are there for a metric.
package checking
