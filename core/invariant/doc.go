// Package invariant checks, transition by transition, what has to hold of discovery whatever
// happens. One implementation serves property tests, model checkers, the check of a replayed log
// and, if wanted, a running component.
//
// A transition is a state, an input, the state after it and the effects. What it takes to judge one
// is in the past, too: a Monitor watches a history and keeps books of its own (which probes are
// outstanding, which timers armed, what was published last, whose agent has answered), so that it
// does not take a state's word for it. Verdicts are asked anew, with core.Judge.
//
//   - Monitor.Step checks the next transition of a history; Check and Monitor.Check look at one
//     transition alone and believe what the state before it says.
//   - Converge leads a state to rest; AtRest looks at one that has come there.
//   - Names lists all that is checked: the values of Violation.Invariant.
//
// # The invariants
//
// Of each: its name and the file that holds it.
//
//	I1   termination.go  who leaves the fleet is terminated once, before the publication without it;
//	                     nobody else ever is
//	I2   answers.go      whoever is published is a current candidate whose exact identity has
//	                     answered since it became one, with the version it told last
//	I3   newest.go       a publication, and a probe, carries the newest config and credentials
//	I4   need.go         only a candidate without a known version is probed, by one probe at a time;
//	                     nothing is queued, in flight or armed for anybody else
//	I5   bounds.go       probes, and retries among them, stay within Config's bounds
//	I6   gate.go         the gate opens with the last of the four, and everything else comes after
//	I7   generations.go  generations grow by one; a replay equals the last publication
//	I8   waiting.go      everybody who waits is remembered: a candidate without a version is queued,
//	                     in flight or has a timer armed, unpublished admissions have a timer armed
//	I9   purity.go       the same input leads from the same state to the same state and effects, and
//	                     leaves the older state as it was
//	I10  convergence.go  once inputs cease and every agent answers with a version, finitely many
//	                     steps lead to rest: all candidates published, nothing outstanding or armed
//	I11  facts.go        where all pods stand, and every list that is kept of them step by step, is
//	                     what a look at the facts from scratch gives
//
// I10 is about what comes later, and is checked now: every answer with a version and every timer that
// fires has to make the number of steps smaller that may still come.
//
// # The rules
//
// A transition shows these rules, too:
//
//	R7, R8    reports.go      a full pass reports each pod that is rejected by its facts and retries
//	                          each candidate that is not admitted; a pod change reports what is news
//	R14       order.go        cancellations and stopped timers, Rejected by key, Terminated by key,
//	          publication.go  at most one Discovered, then timers and probes; who is gone is retired
//	                          in the very step in which that becomes known
//	R16, R17  publication.go  new credentials and versions are published at once, admissions when it
//	          timeliness.go   is due, and never else
//	R19       timeliness.go   one replay, to a new leader and only to it
//	R21       turns.go        first attempts first, each queue in its order; no place stays free for
//	                          which somebody waits
//	R22, R23  attempts.go     time limits and retry delays grow with the attempts; each failure is
//	          reports.go      reported
package invariant
