// Package invariant checks, transition by transition, what has to hold of discovery whatever
// happens. One implementation serves tests, model checkers, the check of a replayed log and, if
// wanted, a running component.
//
// A Monitor watches a history: it is told each input, the state that came of it and the effects.
// It keeps books of its own (which probes are outstanding, which timers armed, what was published
// last, whose agent has answered), so that it does not take a state's word for its own past.
// Verdicts are asked anew with core.Discovery. Check looks at a single transition.
//
// The invariants:
//
//   - I1, termination before publish: between two publications, each authority of the older one
//     that the newer one lacks has exactly one Terminated, before the newer one; there is no other.
//   - I2, only who answered: every published endpoint is a current candidate whose exact identity
//     has answered a probe since it last became a candidate, with the version it told last.
//   - I3, newest settings: a publication, and a probe, carries the newest config and credentials.
//   - I4, no needless probe: none starts for an identity that is admitted with a known version or
//     has one in flight; nothing is queued, in flight or armed for what is no candidate.
//   - I5, bounded probes: outstanding ones and retries among them stay within Config's bounds.
//   - I6, gate first: nothing is probed or published before the gate opens.
//   - I7, generations: they grow by one; a replay equals the last publication.
//   - I8, nothing forgotten: while admissions are unpublished, a PublishDelay timer is armed; every
//     candidate without a final admission is queued, in flight, or has a retry timer armed.
//   - I9, purity: Reduce changes no older state and gives the same result for the same arguments.
//
// Rules that are checked as well, since a transition shows them:
//
//   - R7 and R8, reports: a full pass reports each pod that is rejected by its facts and retries
//     each candidate that is not admitted; a pod change reports a rejected pod if it is news.
//   - R14, order: cancellations and stopped timers, Rejected by key, Terminated by key, at most one
//     Discovered, then timers and probes; a published endpoint is retired in the very step in which
//     its identity is no longer a current candidate's.
//   - R16, updates at once: new credentials or another version are published in the same step.
//   - R17, publication in time: whenever it is due, never else.
//   - R19, one replay: to a new leader, and only to it.
//   - R21, first attempts first: no place stays free for which somebody waits.
//   - R22 and R23, attempts: time limits and retry delays grow with them; each failure is reported.
package invariant
