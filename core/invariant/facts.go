package invariant

import (
	"slices"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// I11, no drift between delta and level: where all pods stand, and every list that is kept of them
// step by step, is what a fresh look at the facts gives.

// checkVerdict: a pod's verdict and identity are those of its facts.
func (t *transition) checkVerdict(s *subject) bool {
	if s.is.Pod.Key != s.key {
		t.violate("I11", "%s is filed under %s", s.is.Pod.Key, s.key)
	}
	return t.checkJudged(s.is, s.verdict, s.identity)
}

func (f *findings) checkJudged(
	standing core.Standing, verdict core.Verdict, identity core.Identity,
) bool {
	if standing.Verdict == verdict && standing.Identity == identity {
		return true
	}
	f.violate("I11", "the verdict on %s is %v of %s, by its facts %v of %s", standing.Pod.Key,
		standing.Verdict, naming(standing.Identity), verdict, naming(identity))
	return false
}

// checkWhole compares a state with a fresh evaluation of its pods, settings and credentials (I11).
// Their verdicts are checked pod by pod.
func (t *transition) checkWhole(l *level) {
	l.begin(t.after)
	if t.known.gateOpen {
		told := l.countOthers(t)
		for i := range t.subjects {
			s := &t.subjects[i]
			if s.remains {
				l.take(s.is, s.told, s.isTold)
			}
			if s.isTold {
				told++
			}
		}
		l.checkCount("published", t.published.fleet.Len(), told)
	} else {
		for standing := range t.after.Standings() {
			l.take(standing, core.Endpoint{}, false)
		}
	}
	l.conclude(t.known)
	t.violations = append(t.violations, l.violations...)
}

// level is a state under evaluation from scratch.
type level struct {
	findings
	state            core.State
	fleet, published core.Fleet
	told             bool
	// What the walk over all pods has found, by key.
	pods, judged, admitted, timers, inFlight int
	unsettled, unpublished, waiting          []core.PodKey
	scratch                                  []core.PodKey
}

// begin takes a state up, with the memory of the one before.
func (l *level) begin(state core.State) {
	*l = level{
		state: state, fleet: state.Admitted(),
		unsettled: l.unsettled[:0], unpublished: l.unpublished[:0], waiting: l.waiting[:0],
		scratch: l.scratch,
	}
	l.published, _, l.told = state.Published()
}

// countOthers counts those who are as the last look has found them, if there was one, and of them
// those that were told.
func (l *level) countOthers(t *transition) (told int) {
	if !t.partial {
		return 0
	}
	admitted := t.last.state.Admitted()
	l.pods, l.admitted, told = t.last.state.Len(), admitted.Len(), t.last.told.Len()
	for i := range t.subjects {
		key := t.subjects[i].key
		if _, found := t.last.state.Standing(key); found {
			l.pods--
		}
		if _, found := admitted.Get(key); found {
			l.admitted--
		}
		if _, found := t.last.told.Get(key); found {
			told--
		}
	}
	return told
}

// take looks at one pod and its published endpoint. The pods come in the order of their keys.
func (l *level) take(standing core.Standing, told core.Endpoint, isTold bool) {
	l.pods++
	if standing.Verdict.Kind != core.Undecided {
		l.judged++
	}
	l.count(standing)
	l.checkFleets(standing, told, isTold)
}

// conclude compares what the walk has found with the lists of the state.
func (l *level) conclude(known knowledge) {
	l.checkCount("known", l.state.Len(), l.pods)
	if !known.gateOpen {
		l.checkIdle()
		return
	}
	if l.fleet.Credentials() != known.credentials {
		l.violate("I11", "the fleet's credentials are not the current ones")
	}
	if l.told && l.published.Credentials() != known.credentials {
		l.violate("I11", "the published credentials are not the current ones")
	}
	l.checkCounts()
	l.checkLists()
	l.checkQueues()
	l.checkRetryTimers()
	if (l.state.PublishTimer() != 0) != (len(l.unpublished) > 0) ||
		(l.state.FirstPublishTimer() != 0) != !l.told {
		l.violate("I11", "publication timers %d and %d, with %d admissions unpublished",
			l.state.PublishTimer(), l.state.FirstPublishTimer(), len(l.unpublished))
	}
}

// checkIdle: before the gate opens, only facts are taken in.
func (l *level) checkIdle() {
	if stepsToRest(l.state)+l.fleet.Len()+l.judged > 0 || l.told {
		l.violate("I11", "more than facts is taken in before the gate opens")
	}
}

// count notes in which of the lists a pod has to be.
func (l *level) count(standing core.Standing) {
	key := standing.Pod.Key
	waits := 0
	if standing.Verdict.Kind == core.IsCandidate && !standing.Version.Known() {
		waits = 1
	}
	if got := waitsOf(standing); got != waits {
		l.violate("I11", "%s waits for its agent in %d ways instead of %d", key, got, waits)
	}
	if standing.Verdict.Kind == core.Rejected || waits > 0 {
		l.unsettled = append(l.unsettled, key)
	}
	if standing.Queued {
		l.waiting = append(l.waiting, key)
	}
	if standing.RetryTimer != 0 {
		l.timers++
	}
	if id := standing.Probe; id != 0 {
		l.inFlight++
		p, found := l.state.Probe(id)
		if !found || p.Cancelled || p.Identity != standing.Identity || p.Retry != standing.Retry {
			l.violate("I11", "probe %d of %s is not in flight as such", id, key)
		}
	}
}

// checkFleets: the fleet is who is admitted; of it, exactly the unpublished are yet to be told.
func (l *level) checkFleets(standing core.Standing, told core.Endpoint, isTold bool) {
	if !standing.Admitted {
		return
	}
	l.admitted++
	key := standing.Pod.Key
	endpoint, found := l.fleet.Get(key)
	if !found || endpoint.Identity != standing.Identity || endpoint.Version != standing.Version {
		l.violate("I11", "%s is admitted, but not so in the fleet", key)
	}
	switch {
	case !isTold:
		l.unpublished = append(l.unpublished, key)
	case told != endpoint:
		l.violate("I11", "%s is published, but not as it is in the fleet", key)
	}
}

func (l *level) checkCounts() {
	inFlight := 0
	for p := range l.state.Outstanding() {
		if !p.Cancelled {
			inFlight++
		}
	}
	l.checkCount("in flight", inFlight, l.inFlight)
	l.checkCount("admitted", l.fleet.Len(), l.admitted)
	l.checkCount("published", l.published.Len(), l.admitted-len(l.unpublished))
	l.checkCount("armed for a retry", l.state.RetryTimersLen(), l.timers)
	l.checkCount("unpublished", l.state.UnpublishedLen(), len(l.unpublished))
	l.checkCount("unsettled", l.state.UnsettledLen(), len(l.unsettled))
}

// checkLists: of as many as they should be, the listed are the right ones.
func (l *level) checkLists() {
	if len(l.unpublished) > 0 {
		l.scratch = slices.AppendSeq(l.scratch[:0], l.state.Unpublished())
		l.checkList("unpublished", l.scratch, l.unpublished)
	}
	if len(l.unsettled) > 0 {
		l.scratch = l.scratch[:0]
		for standing := range l.state.Unsettled() {
			l.scratch = append(l.scratch, standing.Pod.Key)
		}
		l.checkList("unsettled", l.scratch, l.unsettled)
	}
}

func (l *level) checkList(what string, listed, found []core.PodKey) {
	if !slices.Equal(listed, found) {
		l.violate("I11", "%s are %v instead of %v", what, listed, found)
	}
}

func (l *level) checkCount(what string, listed, found int) {
	if listed != found {
		l.violate("I11", "%d pods are listed as %s instead of %d", listed, what, found)
	}
}

// checkQueues: who waits in a queue is in the right one, once.
func (l *level) checkQueues() {
	if firsts, retries := l.state.QueueLen(); firsts+retries+len(l.waiting) == 0 {
		return
	}
	l.scratch = l.scratch[:0]
	for key := range l.state.FirstAttempts() {
		l.scratch = append(l.scratch, key)
		if standing, _ := l.state.Standing(key); standing.Retry {
			l.violate("I11", "%s is queued for a first attempt after a verdict", key)
		}
	}
	for key := range l.state.Retries() {
		l.scratch = append(l.scratch, key)
		if standing, _ := l.state.Standing(key); !standing.Retry {
			l.violate("I11", "%s is queued for a retry without a verdict", key)
		}
	}
	slices.SortFunc(l.scratch, core.PodKey.Compare)
	l.checkList("queued", l.scratch, l.waiting)
}

func (l *level) checkRetryTimers() {
	if l.state.RetryTimersLen() == 0 {
		return
	}
	for id, key := range l.state.RetryTimers() {
		if standing, found := l.state.Standing(key); !found || standing.RetryTimer != id {
			l.violate("I11", "retry timer %d is armed for %s, which does not wait for it", id, key)
		}
	}
}
