// Package core is fleet discovery as a pure function: Reduce takes a State and an Input and gives
// the next State and the Effects that have to be performed. It has no clock, no random source and
// no I/O; who runs it brings those. The same inputs always give the same effects, and an old State
// stays valid for ever: a log of inputs can be replayed, and any state can be branched from.
//
// # What it decides
//
// Beside HAProxy, each pod of a fleet runs an agent with an HTTP API. This package decides at every
// moment which agents may be talked to, at which address, with which credentials, and which may be
// no longer. A pod is admitted when its agent has answered one probe, and stays until its pod
// changes: admission is no health check.
//
// # Vocabulary
//
//   - Pod: the facts of a pod, and all that is ever known of it. ReadPod reads them from an object.
//   - RuntimeID: the container execution epoch, a hash of the names and IDs of the pod's containers
//     and of the agent's where it is a native sidecar; another one after each restart of one of them.
//   - Identity: namespace, name, UID, runtime ID and URL. What an admission holds for, and what a
//     holder of an Endpoint may talk to: the authority.
//   - Verdict: what a pod is by its facts alone: ignored, rejected with a reason, or a candidate.
//   - Candidate: a pod worth probing. First attempts are probes of a candidate without any verdict
//     of its agent so far, all later ones are retries.
//   - Endpoint: an admitted identity with credentials and HAProxy version.
//   - Fleet: the endpoints, ordered by key; an immutable view that costs nothing to keep.
//   - Generation: the number of a publication of the fleet.
//   - Full pass: a step that looks at every pod. ConfigValidated, CredentialsUpdated, PodStoreSet,
//     ResourceSyncComplete and DriftPreventionTriggered are full passes once the gate is open.
//   - Gate: closed until config, credentials, a pod store and its initial sync are known.
//
// # Where to start reading
//
// input.go, effect.go and event.go are the vocabulary as types, state.go is what is remembered, and
// reduce.go is one switch that calls a handler for each input. inspect.go holds the questions that
// a State answers. The stories in testdata show each rule at work; read no_version_yet.txt or
// replaced_under_the_same_name.txt first.
//
// Beside the reducer, in packages of their own and as pure as it is: intake decides what to read from
// the pod store and which inputs come of it, projection says what people are told, audit whether a
// view of the pods is lost, and invariant what must hold of every step.
//
// # What follows from what
//
// What an input leads to in which situation, in the order of the effects; of several of a kind, one
// is shown. Rejected, Terminated and Discovered are the events published, probe and timer are
// started, cancel and stop end them. Each row is a step of a story, found there under the same
// words, and a test compares this table with what Reduce does.
//
//	<nil>
//	  no input at all                                      -> refuse
//	BecameLeader
//	  after a publication                                  -> Discovered
//	  before the first publication                         -> nothing
//	ConfigValidated
//	  a setting is invalid                                 -> refuse
//	  an agent has failed before                           -> stop, Discovered, probe
//	  another port and another selector                    -> Terminated, Discovered, probe
//	  before the gate opens                                -> nothing
//	  it is the last of the four                           -> timer, probe
//	CredentialsUpdated
//	  an agent has failed before                           -> stop, Discovered, probe
//	  before the gate opens                                -> nothing
//	  it is the last of the four                           -> timer, probe
//	  new credentials                                      -> Discovered
//	  new credentials before the first publication         -> nothing
//	  the same credentials again                           -> Discovered
//	  they are empty                                       -> refuse
//	DriftPreventionTriggered
//	  a pod is absent from a store that has not synced     -> Discovered
//	  a pod that failed is gone                            -> stop, Discovered
//	  before the gate opens                                -> nothing
//	  everything at once                                   -> cancel, stop, Rejected, Terminated, Discovered, probe
//	  nothing has changed                                  -> Discovered
//	  nothing has changed, some pods are rejected          -> Rejected, Discovered
//	  published pods cease to be candidates                -> Rejected, Terminated, Discovered, probe
//	  some pods are rejected, an agent has failed          -> stop, Rejected, Discovered, probe
//	  the gate is open, nothing published yet              -> nothing
//	PodStoreSet
//	  an agent has failed before                           -> stop, Discovered, probe
//	  before the gate opens                                -> nothing
//	  it is the last of the four                           -> timer, probe
//	  not yet synced; holds a successor, lacks a pod       -> Terminated, Discovered, probe
//	ProbeFinished
//	  a cancelled probe                                    -> nothing
//	  a cancelled probe, another candidate is queued       -> probe
//	  a failure under old credentials                      -> probe
//	  a first attempt fails                                -> Rejected, timer
//	  a probe that is not outstanding                      -> refuse
//	  a retry fails while a first attempt is queued        -> Rejected, timer, probe
//	  a version is known at last                           -> Discovered
//	  an admitted agent without a version fails            -> timer
//	  an answer while other first attempts are pending     -> timer, probe
//	  an answer without a version                          -> Discovered, timer
//	  the answer of the last agent                         -> Discovered
//	  the last first attempt fails while admissions wait   -> stop, Rejected, Discovered, timer
//	  the last first attempt fails, nothing published yet  -> stop, Rejected, Discovered, timer
//	ResourceIndexUpdated
//	  a candidate that failed gets another identity        -> stop, probe
//	  a candidate that is being probed is gone             -> cancel
//	  a candidate that is being probed is rejected         -> cancel, Rejected
//	  a candidate that is being probed is replaced         -> cancel, probe
//	  a candidate whose retry is in flight is gone         -> cancel
//	  a new pod                                            -> probe
//	  a new pod is rejected                                -> Rejected
//	  a new pod, no place is free                          -> nothing
//	  a pod comes back under the same identity             -> probe
//	  a pod is deleted and another replaced                -> Terminated, Discovered, probe
//	  a pod is deleted and its successor upserted          -> Terminated, Discovered, probe
//	  a published pod is deleted                           -> Terminated, Discovered
//	  a published pod is gone while admissions wait        -> stop, Terminated, Discovered
//	  a published pod is rejected                          -> Rejected, Terminated, Discovered
//	  a published pod is replaced under its name           -> Terminated, Discovered, probe
//	  a published pod is terminating                       -> Terminated, Discovered
//	  a published pod's containers have restarted          -> Terminated, Discovered, probe
//	  a queued candidate is gone                           -> nothing
//	  a rejected pod becomes a candidate                   -> probe
//	  a rejected pod is gone                               -> nothing
//	  an admitted pod is gone before it was published      -> stop
//	  an ignored pod comes or goes                         -> nothing
//	  another resource                                     -> refuse
//	  before the gate opens                                -> nothing
//	  labels change inside the selector                    -> nothing
//	  one of the pods is none                              -> refuse, probe
//	  the facts have not changed                           -> nothing
//	  the late delete of a predecessor, or of nobody       -> nothing
//	ResourceSyncComplete
//	  another resource                                     -> refuse
//	  it is the last of the four                           -> timer, probe
//	  the sync of a new store                              -> stop, Terminated, Discovered, probe
//	TimerFired
//	  a retry timer runs out                               -> probe
//	  a retry timer runs out, retries hold their places    -> nothing
//	  a timer that was never started                       -> refuse
//	  a timer that was stopped                             -> nothing
//	  the first publish delay runs out                     -> Discovered
//	  the publish delay runs out                           -> stop, Discovered
//
// # Where each rule lives
//
// The rules have stable numbers, which comments and tests cite. Of each: the file, what it is
// about, and the stories of testdata that show it.
//
//	R1   verdict.go      ignored: terminating, not Running, no IP, outside the selector
//	     malformed_pod_costs_only_itself verdicts
//	R2   verdict.go      rejected: the agent's container does not run
//	     malformed_pod_costs_only_itself rejected_pod_reported_on_change verdicts
//	R3   read_pod.go     rejected: facts that cannot be read; R1, then R3, then R2
//	     malformed_pod_costs_only_itself rejected_pod_reported_on_change verdicts
//	R4   verdict.go      readiness is never asked
//	     pod_changes_without_effect verdicts
//	R5   admission.go    a candidate is admitted when its agent answers
//	     cold_start_streams verdicts
//	R6   gate.go         nothing before config, credentials, store and sync are known
//	     gate_opens_with_the_last_of_four store_swapped_before_its_sync store_that_cannot_say
//	R7   full_pass.go    full passes report and probe again what is not in the fleet
//	     backoff_reset full_passes_report_and_retry gate_opens_with_the_last_of_four
//	     store_swapped_before_its_sync
//	R8   pod_changes.go  pod changes look only at the pods they name
//	     pod_changes_without_effect rejected_pod_reported_on_change
//	R9   pod_changes.go  index events name pods, the store is the truth (read by core/intake)
//	     inputs_that_make_no_sense late_delete_of_a_predecessor
//	R10  admission.go    an admitted identity costs no probe
//	     admitted_pods_cost_no_probe credentials_rotated full_passes_report_and_retry
//	     pod_changes_without_effect
//	R11  pod_changes.go  another identity is another candidate
//	     address_moves containers_restarted limits_and_delays_grow replaced_under_the_same_name
//	     shared_url termination_causes
//	R12  pod_changes.go  who ceases to be a candidate loses the admission
//	     late_delete_of_a_predecessor never_published_never_terminated returns_under_the_same_uid
//	     vanished_candidate_is_cancelled
//	R13  admission.go    an answer without a version admits, and is asked again
//	     no_version_yet
//	R14  pod_changes.go  retired in the step in which it becomes known; the order of effects
//	     address_moves containers_restarted hung_agent_holds_back_nobody
//	     late_delete_of_a_predecessor malformed_pod_costs_only_itself
//	     never_published_never_terminated order_within_a_step
//	     read_that_removes_five_and_adds_twenty replaced_under_the_same_name
//	     returns_under_the_same_uid shared_url sixteen_hung_agents store_swapped_before_its_sync
//	     termination_causes
//	R15  pod_changes.go  each published authority is terminated exactly once
//	     never_published_never_terminated order_within_a_step replaced_under_the_same_name
//	     returns_under_the_same_uid shared_url
//	R16  gate.go         new credentials touch no endpoint
//	     admitted_pods_cost_no_probe credentials_rotated failure_under_old_credentials
//	     no_version_yet
//	R17  publication.go  when to publish
//	     admitted_pods_cost_no_probe cold_start_streams credentials_rotated empty_store_is_real
//	     full_passes_report_and_retry gate_opens_with_the_last_of_four
//	     hung_agent_holds_back_nobody restart_announces_no_empty_fleet sixteen_hung_agents
//	     vanished_candidate_is_cancelled
//	R18  publication.go  generations grow by one
//	     cold_start_streams new_leader
//	R19  publication.go  a new leader is told the last publication
//	     credentials_rotated new_leader
//	R20  full_pass.go    an empty store is real (one that cannot be read is no input)
//	     empty_store_is_real
//	R21  probe_queue.go  caps and queues
//	     cold_start_streams failure_under_old_credentials read_that_removes_five_and_adds_twenty
//	     retries_leave_places_for_new_pods sixteen_hung_agents vanished_candidate_is_cancelled
//	R22  probe_queue.go  time limits grow with the attempt
//	     backoff_reset hung_agent_holds_back_nobody limits_and_delays_grow
//	     retries_leave_places_for_new_pods sixteen_hung_agents
//	R23  backoff.go      failed probes: causes, back-off, spread
//	     backoff_reset causes_of_failure containers_restarted limits_and_delays_grow
//	     no_version_yet restart_announces_no_empty_fleet
//	R24  probe_queue.go  cancelled probes, late results, failures under old credentials
//	     failure_under_old_credentials inputs_that_make_no_sense
//	     retries_leave_places_for_new_pods vanished_candidate_is_cancelled
//
// Of the other rules, R25 (how to probe), R27 in part and R28 to R31 belong to those who perform
// the effects. Secrets are held back in secret.go (R26) and checked in credentials.go (R27); that
// Reduce is total (R32) is shown by inputs_that_make_no_sense. snapshot.go and restore.go turn a State
// into plain data and back (R35).
package core
