package timeline

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell"
)

var hap0 = core.PodKey{Namespace: "lb", Name: "hap-0"}

func (h *history) want(status Status, reason core.Reason, cause core.Cause, since time.Time) {
	h.t.Helper()
	got := h.Now().Record(hap0)
	if got.Status != status || got.Reason != reason || got.Cause != cause || !got.Since.Equal(since) {
		h.t.Fatalf("step %d: %s %s %s since %v, want %s %s %s since %v", h.seq, got.Status, got.Reason,
			got.Cause, got.Since, status, reason, cause, since)
	}
}

// A pod's way: what it is does not begin anew while only its attempts go on, and its next probe is
// when its timer runs out.
func TestSinceWhenAndNextRetry(t *testing.T) {
	h := newHistory(t)
	h.open(pod("hap-0", "u1"))
	begun := h.now
	h.want(Candidate, "", "", begun)

	h.finish(time.Second, core.Failure{Cause: core.CauseRefused, Detail: "connection refused"})
	failed := h.now
	h.want(Rejected, core.ReasonAgentUnreachable, core.CauseRefused, failed)
	standing, _ := h.state.Standing(hap0)
	retry := h.Now().RetryAt(standing)
	if wait := retry.Sub(failed); wait < 800*time.Millisecond || wait > 1200*time.Millisecond {
		t.Fatalf("the retry comes after %v", wait)
	}

	h.step(retry.Sub(h.now), core.TimerFired{Timer: standing.RetryTimer})
	h.want(Rejected, core.ReasonAgentUnreachable, core.CauseRefused, failed)
	standing, _ = h.state.Standing(hap0)
	if at := h.Now().RetryAt(standing); !at.IsZero() {
		t.Fatalf("a pod that is being probed is probed again at %v", at)
	}
	h.finish(time.Second, core.Failure{Cause: core.CauseTimeout})
	h.want(Rejected, core.ReasonAgentUnreachable, core.CauseTimeout, failed)
	if waited := h.Now().OldestUnadmitted(h.now); waited != h.now.Sub(begun) {
		t.Errorf("the oldest candidate has waited for %v, not %v", waited, h.now.Sub(begun))
	}

	// New credentials begin the attempts anew, not the rejection.
	h.step(time.Second, core.CredentialsUpdated{Credentials: credentials(t, "two")})
	h.want(Rejected, core.ReasonAgentUnreachable, core.CauseTimeout, failed)

	h.finish(time.Second, core.Answer{Version: "3.4.3"})
	h.want(Admitted, "", "", h.now)
	if waited := h.Now().OldestUnadmitted(h.now); waited != 0 {
		t.Errorf("somebody has waited for %v, though all are admitted", waited)
	}

	h.step(time.Second, changed(pod("hap-0", "u2")))
	h.want(Candidate, "", "", h.now)
	h.step(time.Second, changed(pod("hap-0", "u2", func(p *core.Pod) { p.Malformed = "status is a text" })))
	h.want(Rejected, core.ReasonMalformedPod, core.CauseMalformed, h.now)
	if detail := h.Now().Record(hap0).Detail; detail != "status is a text" {
		t.Errorf("the detail is %q", detail)
	}
	h.step(time.Second, core.DriftPreventionTriggered{})
	if got := h.Now().Record(hap0); got != (Record{}) {
		t.Errorf("a pod that is gone is remembered: %+v", got)
	}
}

// The store was seen with each complete read of a store that has synced, and its age counts from
// the beginning before that. A source that knows better is asked instead.
func TestAgeOfTheView(t *testing.T) {
	h := newHistory(t)
	age := func() time.Duration { return h.Now().ViewAge(h.now) }
	h.step(0, core.ResourceSyncComplete{Resource: core.HAProxyPods}) // there is no store yet
	h.step(0, core.PodStoreSet{Synced: core.SyncPending})
	h.step(0, core.DriftPreventionTriggered{})
	moment := h.Now()
	if !moment.StoreSeen.IsZero() || moment.ViewAge(moment.Began.Add(time.Hour)) != time.Hour {
		t.Fatalf("a store that has not synced was seen at %v", moment.StoreSeen)
	}
	h.step(time.Second, core.ResourceSyncComplete{Resource: core.HAProxyPods})
	if age() != 0 {
		t.Errorf("the view is %v old in the moment of the sync", age())
	}
	h.step(time.Minute, changed(pod("hap-0", "u1")))
	if age() != time.Minute {
		t.Errorf("a named pod makes the view of all %v old", age())
	}
	h.step(time.Second, core.DriftPreventionTriggered{})
	if age() != 0 {
		t.Errorf("the view is %v old in the moment of the drift tick", age())
	}
	contact := h.now.Add(-time.Hour)
	h.FollowStore(func() time.Time { return contact })
	if age() != time.Hour {
		t.Errorf("the source says an hour, not %v", age())
	}
}

func TestProblemsAreKeptByKind(t *testing.T) {
	times := New()
	for i := range 3 {
		times.Problem(shell.Problem{Kind: shell.StoreUnreadable, Err: fmt.Errorf("failure %d", i)})
	}
	times.Problem(shell.Problem{Kind: shell.NotAPod, Err: errors.New(strings.Repeat("ö", 1000))})
	before := times.Now().Problems
	times.Problem(shell.Problem{Kind: shell.NotAPod})
	if len(before) != 2 || before[0].Text != "failure 2" || before[0].Count != 3 || before[1].Count != 1 {
		t.Errorf("the problems are %+v", before)
	}
	if long := before[1].Text; len(long) > maxProblemText+10 || !strings.HasSuffix(long, "ö…") {
		t.Errorf("%d bytes of text are kept: %q", len(long), long[len(long)-10:])
	}
	if newest := times.Now().Problems[1]; newest.Kind != shell.NotAPod || newest.Count != 2 {
		t.Errorf("the newest is %+v", newest)
	}
}

func TestChangedTellsOfTheNextStepAndProblem(t *testing.T) {
	h := newHistory(t)
	for _, happen := range []func(){
		func() { h.step(0, core.BecameLeader{}) },
		func() { h.Problem(shell.Problem{Kind: shell.NotAPod}) },
	} {
		waiting := h.Changed()
		select {
		case <-waiting:
			t.Fatal("told before anything happened")
		default:
		}
		happen()
		select {
		case <-waiting:
		default:
			t.Fatal("not told")
		}
	}
}

// Over random histories the records equal what a look at every pod after every step gives, and
// nothing is kept of what is gone.
func TestRecordsEqualALookAtEveryPod(t *testing.T) {
	seen := map[Status]int{}
	for seed := range uint64(60) {
		h := newHistory(t)
		naive := map[core.PodKey]Record{}
		random := rand.New(rand.NewPCG(seed, 0))
		for range 120 {
			h.step(time.Duration(random.IntN(2000))*time.Millisecond, h.draw(random))
			lookAtEveryPod(naive, h.last)
			moment := h.Now()
			for standing, got := range moment.Pods() {
				want := naive[standing.Pod.Key]
				seen[want.Status]++
				if got != want {
					t.Fatalf("seed %d, step %d: %s is\n%+v, want\n%+v", seed, h.seq, standing.Pod.Key, got, want)
				}
			}
			if len(moment.records) != h.state.Len() || len(moment.fires) != len(h.state.Timers()) {
				t.Fatalf("seed %d, step %d: %d records of %d pods, %d times of %d timers", seed, h.seq,
					len(moment.records), h.state.Len(), len(moment.fires), len(h.state.Timers()))
			}
		}
	}
	for _, status := range []Status{Undecided, Ignored, Candidate, Rejected, Admitted} {
		if seen[status] == 0 {
			t.Errorf("no pod was ever %s", status)
		}
	}
}

func lookAtEveryPod(records map[core.PodKey]Record, step shell.Step) {
	for key := range records {
		if _, found := step.After.Standing(key); !found {
			delete(records, key)
		}
	}
	for standing := range step.After.Standings() {
		key := standing.Pod.Key
		was, is := records[key], Record{
			Cause: standing.Verdict.Cause, Reason: standing.Verdict.Reason,
			Since: step.Time, uid: standing.Pod.UID, identity: standing.Identity,
		}
		same := was.uid == is.uid && was.identity == is.identity
		unadmitted := standing.Verdict.Kind == core.IsCandidate && !standing.Admitted
		switch {
		case standing.Admitted:
			is.Status = Admitted
		case unadmitted && standing.Retry:
			is.Status, is.Reason = Rejected, core.ReasonAgentUnreachable
			is.Cause, is.Detail = was.Cause, was.Detail
			for _, effect := range step.Effects {
				publish, _ := effect.(core.Publish)
				report, isReport := publish.Event.(core.HAProxyPodRejected)
				if isReport && report.Key() == key {
					is.Cause, is.Detail = report.Cause, report.Detail
				}
			}
		case unadmitted:
			is.Status = Candidate
		case standing.Verdict.Kind == core.Rejected:
			is.Status, is.Detail = Rejected, standing.Pod.Detail(standing.Verdict.Reason)
		default:
			is.Status = Status(standing.Verdict.Kind.String())
		}
		if unadmitted {
			is.UnadmittedSince = step.Time
			if same && !was.UnadmittedSince.IsZero() {
				is.UnadmittedSince = was.UnadmittedSince
			}
		}
		if same && was.Status == is.Status && was.Reason == is.Reason {
			is.Since = was.Since
		}
		records[key] = is
	}
}

// draw gives any input that may come next.
func (h *history) draw(random *rand.Rand) core.Input {
	somePod := func(i int) *core.Pod {
		return pod(fmt.Sprintf("hap-%d", i), fmt.Sprintf("u%d", random.IntN(2)), func(p *core.Pod) {
			p.RuntimeID = core.RuntimeID(fmt.Sprint(random.IntN(2)))
			p.Agent = []core.AgentState{core.AgentRunning, core.AgentRunning, core.AgentWaiting}[random.IntN(3)]
			p.Terminating = random.IntN(6) == 0
			if random.IntN(6) == 0 {
				p.Malformed = fmt.Sprint("malformed ", random.IntN(2))
			}
		})
	}
	list := func() (pods []*core.Pod) {
		for i := range 6 {
			if was, found := h.state.Standing(core.PodKey{Namespace: "lb", Name: fmt.Sprintf("hap-%d", i)}); found &&
				random.IntN(3) > 0 {
				pods = append(pods, was.Pod)
			} else if random.IntN(3) > 0 {
				pods = append(pods, somePod(i))
			}
		}
		return pods
	}
	switch kind := random.IntN(24); {
	case kind == 0:
		return core.ConfigValidated{AgentPort: 1 + random.IntN(2), PodSelector: "app=haproxy"}
	case kind == 1:
		return core.CredentialsUpdated{Credentials: credentials(h.t, fmt.Sprint(random.IntN(2)))}
	case kind == 2:
		return core.PodStoreSet{Pods: list(), Synced: core.Sync(random.IntN(3))}
	case kind == 3:
		return core.ResourceSyncComplete{Resource: core.HAProxyPods, Pods: list()}
	case kind == 4:
		return core.DriftPreventionTriggered{Pods: list()}
	case kind < 10:
		in := changed(somePod(random.IntN(6)), somePod(random.IntN(6)))
		in.Deleted = []core.PodRef{{Key: somePod(random.IntN(6)).Key, UID: fmt.Sprintf("u%d", random.IntN(2))}}
		return in
	case kind < 14:
		if timers := h.state.Timers(); len(timers) > 0 {
			return core.TimerFired{Timer: timers[random.IntN(len(timers))]}
		}
	case len(h.started) > 0:
		i := random.IntN(len(h.started))
		probe := h.started[i].Probe
		h.started = append(h.started[:i:i], h.started[i+1:]...)
		outcome := []core.Outcome{
			core.Answer{}, core.Answer{Version: "3.4.3"}, core.Failure{Cause: core.CauseRefused},
			core.Failure{Cause: core.CauseTimeout, Detail: "late"}, core.Failure{},
		}[random.IntN(5)]
		return core.ProbeFinished{Probe: probe, Outcome: outcome}
	}
	return core.BecameLeader{}
}
