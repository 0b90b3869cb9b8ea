package invariant

import (
	"iter"
	"slices"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// checkWhole: the parts of a state agree with each other. For thorough monitors.
func (t *transition) checkWhole() {
	if !t.known.gateOpen {
		t.checkIdle()
		return
	}
	t.checkQueues()
	t.checkTurns("first attempts", false, t.before.FirstAttempts(), t.after.FirstAttempts())
	t.checkTurns("retries", true, t.before.Retries(), t.after.Retries())
	t.checkFleets()
	retryTimers := 0
	for id, key := range t.after.RetryTimers() {
		retryTimers++
		if standing, found := t.after.Standing(key); !found || standing.RetryTimer != id {
			t.violate("I4", "retry timer %d is armed for %s, which does not wait for it", id, key)
		}
	}
	if retryTimers != t.after.RetryTimersLen() {
		t.violate("I8", "%d retry timers, counted as %d", retryTimers, t.after.RetryTimersLen())
	}
	for _, id := range t.after.Timers() {
		if _, armed := t.timers[id]; !armed {
			t.violate("I8", "timer %d is not armed", id)
		}
	}
}

// checkIdle: before the gate opens, only facts are taken in (I6).
func (t *transition) checkIdle() {
	firsts, retries := t.after.QueueLen()
	_, _, published := t.after.Published()
	if firsts+retries+len(t.after.Probes())+len(t.after.Timers())+t.after.Admitted().Len() > 0 ||
		published {
		t.violate("I6", "more than facts is taken in before the gate opens")
	}
	for standing := range t.after.Standings() {
		if standing.Verdict.Kind != core.Undecided {
			t.violate("I6", "%s is judged before the gate opens", standing.Pod.Key)
		}
	}
}

// checkQueues: each candidate that waits in a queue is in the right one, once.
func (t *transition) checkQueues() {
	queued := map[core.PodKey]int{}
	for key := range t.after.FirstAttempts() {
		queued[key]++
		if t.lives[key].judged {
			t.violate("R21", "%s is queued for a first attempt after a verdict", key)
		}
	}
	for key := range t.after.Retries() {
		queued[key]++
		if !t.lives[key].judged {
			t.violate("R21", "%s is queued for a retry without a verdict", key)
		}
	}
	for standing := range t.after.Standings() {
		key := standing.Pod.Key
		want := 0
		if standing.Queued {
			want = 1
		}
		if queued[key] != want {
			t.violate("I4", "%s is %d times in the queues instead of %d", key, queued[key], want)
		}
		delete(queued, key)
	}
	for key := range queued {
		t.violate("I4", "%s is queued, but not known", key)
	}
}

// checkTurns: who was queued before has started, or is queued still, in the same order and before
// everybody who came later (R21).
func (t *transition) checkTurns(name string, retry bool, before, after iter.Seq[core.PodKey]) {
	var waited, served []core.PodKey
	for key := range before {
		if lived, lives := t.lives[key]; lives && !t.begun[key] && !t.deleted[key] &&
			lived.judged == retry {
			waited = append(waited, key)
		}
	}
	for _, effect := range t.effects {
		start, _ := effect.(core.StartProbe)
		if p, started := t.probes[start.Probe]; started && p.retry == retry {
			served = append(served, start.Identity.Key())
		}
	}
	served = slices.AppendSeq(served, after)
	if len(served) < len(waited) || !slices.Equal(served[:len(waited)], waited) {
		t.violate("R21", "%s are served in the order %v instead of %v", name, served, waited)
	}
}

// checkFleets: the fleet is who answered; of it, exactly the unpublished are yet to be told.
func (t *transition) checkFleets() {
	admitted := t.after.Admitted()
	count := 0
	var unsettled []core.PodKey
	for standing := range t.after.Standings() {
		key := standing.Pod.Key
		if standing.Verdict.Kind == core.Rejected ||
			standing.Verdict.Kind == core.IsCandidate && !standing.Version.Known() {
			unsettled = append(unsettled, key)
		}
		if !standing.Admitted {
			continue
		}
		count++
		endpoint, found := admitted.Get(key)
		if !found || endpoint.Identity != standing.Identity || endpoint.Version != standing.Version {
			t.violate("I2", "%s is admitted, but not so in the fleet", key)
		}
	}
	if count != admitted.Len() {
		t.violate("I2", "%d pods are admitted, the fleet has %d endpoints", count, admitted.Len())
	}
	var listed []core.PodKey
	for standing := range t.after.Unsettled() {
		listed = append(listed, standing.Pod.Key)
	}
	if !slices.Equal(listed, unsettled) {
		t.violate("I8", "unsettled are %v instead of %v", listed, unsettled)
	}
	published, _, _ := t.after.Published()
	diff := admitted.DiffFrom(published)
	unpublished := slices.Collect(t.after.Unpublished())
	if !slices.Equal(unpublished, diff.Added) {
		t.violate("I8", "unpublished are %v instead of %v", unpublished, diff.Added)
	}
	if len(diff.Updated)+len(diff.Removed) > 0 {
		t.violate("R14", "updated %v and removed %v are not published", diff.Updated, diff.Removed)
	}
}
