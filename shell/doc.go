// Package shell runs discovery in a program: the thin layer between the pure reducer in core and
// the outside. A Component has one loop, which is the only place that changes the state:
//
//	inbox    what happened: events, probe results, timers, and reasons to look at the pod store
//	intake   core/intake decides what to read there, and which inputs come of it
//	reader   reads it: facts of pods, at the moment they are needed
//	loop     tell the observers, reduce, hand the effects out in order
//	effects  probes in an errgroup, timers, publication to subscribers
//
// core/doc.go tells where the rules R1 to R24 live. The others are these:
//
//	R25  effects/probe.go               a probe is one GET on a fresh connection, within limits
//	R26  core/secret.go                 no secret is printed,
//	     effects/credentials_echo.go    in no encoding, be it one that an agent sends back
//	R27  core/credentials.go            invalid credentials are refused by name; the old ones stay
//	R28  shell/inputlog/writer.go       every input is recorded before it is reduced, never waiting
//	R29  shell/inputlog/reader.go       a torn end is a warning, any other damage an error
//	R30  effects/outbox.go              what a subscriber that lags behind still gets
//	R31  shell/start.go                 shutdown: quiet, complete, within a second
//	R32  shell/loop.go                  a panic of the reducer stops the component
//
// The loop never waits for a probe, a subscriber or a disk, and decides nothing: all policy is
// core's. Recording, metrics and logging hang on the Observer seam, each in a package of its own,
// so that nobody compiles what he does not use:
//
//	shell/recording  writes the input log, whose format is shell/inputlog's
//	shell/timeline   holds the newest core/projection for those who look, such as the two that follow
//	shell/metrics    shows it all to Prometheus
//	shell/status     serves the status page, health and metrics over HTTP
//	shell/checking   checks the invariants of core at each step, beside the loop
//
// Package shell/kubernetes brings pods, credentials and leadership from a cluster. Its directory
// e2e/embedding has a whole controller around a Component, to be read and copied.
package shell
