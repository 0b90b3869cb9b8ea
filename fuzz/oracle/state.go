package oracle

import (
	"iter"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// compareState asks the new state what it can tell in passing.
func (o *Oracle) compareState(after core.State) {
	o.compareFacts(after)
	o.comparePlaces(after)
	o.compareWaiting(after)
	_, generation, told := after.Published()
	if generation != o.published.generation || told != (generation > 0) {
		o.differ("R18: generation %d is remembered instead of %d", generation, o.published.generation)
	}
}

// compareLists compares the fleets, and the lists that a state keeps of what it has yet to do.
func (o *Oracle) compareLists(after core.State) {
	o.compareFleet("admitted", after.Admitted(), o.admitted, o.facts.credentials)
	if fleet, _, told := after.Published(); told {
		o.compareFleet("published", fleet, o.published.fleet, o.published.credentials)
	}
	o.compareUnpublished(after)
	o.compareUnsettled(after)
}

func (o *Oracle) compareFacts(after core.State) {
	f := &o.facts
	config, configured := after.Settings()
	if config != f.config || configured != f.configured {
		o.differ("I3: the config is %+v instead of %+v", config, f.config)
	}
	if after.Credentials() != f.credentials {
		o.differ("I3: the credentials are not the newest")
	}
	if after.Config() != o.config {
		o.differ("I3: the numbers of the rules are %+v instead of %+v", after.Config(), o.config)
	}
	if after.GateOpen() != f.gateOpen {
		o.differ("R6: the gate is open: %t instead of %t", after.GateOpen(), f.gateOpen)
	}
	if after.StoreSynced() != f.synced {
		o.differ("R6: the store has synced: %t instead of %t", after.StoreSynced(), f.synced)
	}
	if after.Len() != len(f.pods) {
		o.differ("R9: %d pods are known instead of %d", after.Len(), len(f.pods))
	}
}

// comparePlaces compares where each pod stands.
func (o *Oracle) comparePlaces(after core.State) {
	at := 0
	for standing := range after.Standings() {
		if at >= len(o.now) || o.now[at].pod.Key != standing.Pod.Key {
			o.differ("R9: %s is known at place %d", standing.Pod.Key, at)
			return
		}
		o.comparePlace(&o.now[at], &standing)
		at++
	}
	if at != len(o.now) {
		o.differ("R9: %d pods are listed instead of %d", at, len(o.now))
	}
}

func (o *Oracle) comparePlace(is *place, said *core.Standing) {
	key := is.pod.Key
	if !sameFacts(is.pod, said.Pod) {
		o.differ("R9: %s is known as %+v instead of %+v", key, *said.Pod, *is.pod)
	}
	if is.verdict != said.Verdict {
		o.differ("R1-R5: the verdict on %s is %+v instead of %+v", key, said.Verdict, is.verdict)
	}
	want := core.Standing{Pod: said.Pod, Verdict: said.Verdict}
	if c := is.candidacy; c != nil {
		want = core.Standing{
			Pod: said.Pod, Verdict: said.Verdict, Identity: c.identity,
			Admitted: c.admitted(), Version: c.version(),
			Attempts: c.attempts(o.lastReset), Retry: !c.firstAttempt(),
			Queued: c.queued, Probe: c.probe, RetryTimer: c.timer,
		}
	}
	if *said != want {
		want.Pod, said.Pod = nil, nil // told above; and where they are in memory is no news
		o.differ("I11: %s stands as %+v instead of %+v", key, *said, want)
	}
}

// compareWaiting compares the queues in their order, the probes outstanding and the timers.
func (o *Oracle) compareWaiting(after core.State) {
	firsts, retries := o.waiting()
	nFirsts, nRetries := after.QueueLen()
	if nFirsts+nRetries > 0 {
		o.compareQueue("first attempts", after.FirstAttempts(), firsts)
		o.compareQueue("retries", after.Retries(), retries)
	}
	o.count("first attempts counted", nFirsts, len(firsts))
	o.count("retries counted", nRetries, len(retries))
	if after.FirstAttemptsPending() != o.firstAttemptPending() {
		o.differ("R17: first attempts are pending: %t", after.FirstAttemptsPending())
	}
	probes := after.Probes()
	o.count("probes outstanding", len(probes), len(o.outstanding))
	for i := range probes {
		said := &probes[i]
		if at := o.findProbe(said.Probe); at < 0 || o.outstanding[at] != (probe{
			said.Probe, said.Identity, said.Credentials, said.Retry, said.Cancelled,
		}) {
			o.differ("R24: outstanding is probe %d of %s, retry %t, cancelled %t",
				said.Probe, said.Identity.Key(), said.Retry, said.Cancelled)
		}
	}
	armed := 0
	for _, is := range o.now {
		if is.candidacy != nil && is.candidacy.timer != 0 {
			armed++
		}
	}
	o.count("retry timers", after.RetryTimersLen(), armed)
	if after.PublishTimer() != o.publishTimer || after.FirstPublishTimer() != o.firstPublishTimer {
		o.differ("R17: the publish timers are %d and %d instead of %d and %d", after.PublishTimer(),
			after.FirstPublishTimer(), o.publishTimer, o.firstPublishTimer)
	}
}

func (o *Oracle) compareQueue(name string, said iter.Seq[core.PodKey], want []*candidacy) {
	keys := o.keys[:0]
	for _, c := range want {
		keys = append(keys, c.identity.Key())
	}
	o.keys = keys
	o.compareKeys(name, said, keys)
}

func (o *Oracle) compareKeys(name string, said iter.Seq[core.PodKey], want []core.PodKey) {
	at := 0
	for key := range said {
		if at >= len(want) || want[at] != key {
			o.differ("I11: %s is at place %d of the %s", key, at, name)
			return
		}
		at++
	}
	o.count(name, at, len(want))
}

// compareUnpublished: who is admitted and yet to be told.
func (o *Oracle) compareUnpublished(after core.State) {
	unpublished := o.keys[:0]
	for _, m := range o.admitted {
		if !o.isPublished(m.identity) {
			unpublished = append(unpublished, m.identity.Key())
		}
	}
	o.keys = unpublished
	o.compareKeys("unpublished", after.Unpublished(), unpublished)
}

// compareUnsettled: who is rejected by its facts, or has no final admission.
func (o *Oracle) compareUnsettled(after core.State) {
	unsettled := o.keys[:0]
	for _, is := range o.now {
		unknown := is.candidacy != nil && is.candidacy.version().Text == ""
		if is.verdict.Kind == core.Rejected || unknown {
			unsettled = append(unsettled, is.pod.Key)
		}
	}
	o.keys = unsettled
	at := 0
	for standing := range after.Unsettled() {
		if at >= len(unsettled) || unsettled[at] != standing.Pod.Key {
			o.differ("R7: %s is at place %d of the unsettled", standing.Pod.Key, at)
			return
		}
		at++
	}
	o.count("unsettled", at, len(unsettled))
}

func (o *Oracle) compareFleet(
	name string, said core.Fleet, want []member, credentials core.Credentials,
) {
	if said.Len() != len(want) {
		o.differ("I2: %d endpoints are %s instead of %d", said.Len(), name, len(want))
		return
	}
	at := 0
	for endpoint := range said.All() {
		if at >= len(want) || endpoint.Identity != want[at].identity ||
			endpoint.Version != want[at].version || endpoint.Credentials != credentials {
			o.differ("I2: %s is %+v %+v", name, endpoint.Identity, endpoint.Version)
			return
		}
		at++
	}
	if said.Credentials() != credentials {
		o.differ("I3: %s has old credentials", name)
	}
}
