// Package effects performs what the reducer asks for. It knows core's vocabulary and no policy:
// whom to probe and when, how long to wait and what to publish was decided before.
//
// # Probes
//
// A Prober performs core.StartProbe: one GET of the agent's document on a connection of its own,
// within one time limit, and gives a core.Answer or a core.Failure. It trusts nothing that comes
// from the network, and quotes nothing of it. Start reading in probe.go; probe_request.go and
// probe_response.go hold what is sent and what is accepted, agent_document.go what is read of it,
// probe_connection.go and probe_failure.go how failures get their cause, tls.go whom to trust with
// https.
//
// # Timers
//
// Timers performs core.StartTimer and core.StopTimer, and calls back when one runs out.
//
// # Publication
//
// A Publisher performs core.Publish: it puts the event into the outbox of each Subscription, from
// which the subscriber takes it with Next. An outbox loses no termination and keeps only the newest
// of the rest (outbox.go, outbox_rejections.go). For who has skipped a publication, the next one is
// compared anew with what was received (outbox_reception.go), so that terminations and lists, taken
// together, always add up to the fleet.
//
// # What blocks
//
//   - Prober.Probe, until the answer, the time limit or the end of its context.
//   - Subscription.Next, until an event, the end of its context or that of the subscription. The
//     comparing of fleets, in time proportional to their sizes, happens here too.
//   - Timers.Close, until the callbacks under way have returned.
//
// Nothing else does: the loop that hands out the effects waits neither for an agent nor for a
// subscriber. What probes call for goroutines is up to the caller; Timers and Publisher keep none.
package effects
