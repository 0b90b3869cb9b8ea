// Package shell runs discovery in a program: the thin layer between the pure reducer in core and the
// outside. A Component has one loop, which is the only place that changes the state:
//
//	inbox    what happened: events, probe results, timers, pods named as changed
//	reader   facts of pods, read from the PodStore at the moment they are needed
//	loop     tell the observers, reduce, hand the effects out in order
//	effects  probes in an errgroup, timers, publication to subscribers
//
// The loop never waits for a probe, a subscriber or a disk, and decides nothing: all policy is
// core's. Recording, metrics and logging hang on the Observer seam.
package shell
