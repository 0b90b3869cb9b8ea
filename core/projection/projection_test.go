package projection

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

var hap0 = core.PodKey{Namespace: "lb", Name: "hap-0"}

func (h *history) pod() Pod {
	pod, _ := h.Pod(hap0)
	return pod
}

func (h *history) want(status Status, reason core.Reason, cause core.Cause, since time.Time) {
	h.t.Helper()
	got, _ := h.Pod(hap0)
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
	retry := h.pod().RetryAt
	if wait := retry.Sub(failed); wait < 800*time.Millisecond || wait > 1200*time.Millisecond {
		t.Fatalf("the retry comes after %v", wait)
	}

	h.step(retry.Sub(h.now), core.TimerFired{Timer: standing.RetryTimer})
	h.want(Rejected, core.ReasonAgentUnreachable, core.CauseRefused, failed)
	if at := h.pod().RetryAt; !at.IsZero() {
		t.Fatalf("a pod that is being probed is probed again at %v", at)
	}
	h.finish(time.Second, core.Failure{Cause: core.CauseTimeout})
	h.want(Rejected, core.ReasonAgentUnreachable, core.CauseTimeout, failed)
	if since := h.OldestUnadmitted(); !since.Equal(begun) {
		t.Errorf("the oldest candidate has waited since %v, not %v", since, begun)
	}

	// New credentials begin the attempts anew, not the rejection.
	h.step(time.Second, core.CredentialsUpdated{Credentials: credentials(t, "two")})
	h.want(Rejected, core.ReasonAgentUnreachable, core.CauseTimeout, failed)

	h.finish(time.Second, core.Answer{Version: "3.4.3"})
	h.want(Admitted, "", "", h.now)
	if since := h.OldestUnadmitted(); !since.IsZero() {
		t.Errorf("somebody has waited since %v, though all are admitted", since)
	}

	h.step(time.Second, changed(pod("hap-0", "u2")))
	h.want(Candidate, "", "", h.now)
	h.step(time.Second, changed(pod("hap-0", "u2", func(p *core.Pod) { p.Malformed = "status is a text" })))
	h.want(Rejected, core.ReasonMalformedPod, core.CauseMalformed, h.now)
	if detail := h.pod().Detail; detail != "status is a text" {
		t.Errorf("the detail is %q", detail)
	}
	h.step(time.Second, core.DriftPreventionTriggered{})
	if got, known := h.Pod(hap0); known {
		t.Errorf("a pod that is gone is remembered: %+v", got)
	}
}

// The store was seen with each complete read of a store that has synced.
func TestStoreSeen(t *testing.T) {
	h := newHistory(t)
	h.step(0, core.ResourceSyncComplete{Resource: core.HAProxyPods}) // there is no store yet
	h.step(0, core.PodStoreSet{Synced: core.SyncPending})
	h.step(0, core.DriftPreventionTriggered{})
	if !h.StoreSeen.IsZero() {
		t.Fatalf("a store that has not synced was seen at %v", h.StoreSeen)
	}
	h.step(time.Second, core.ResourceSyncComplete{Resource: core.HAProxyPods})
	synced := h.now
	h.step(time.Minute, changed(pod("hap-0", "u1")))
	if !h.StoreSeen.Equal(synced) {
		t.Errorf("seen at %v, not with the sync at %v", h.StoreSeen, synced)
	}
	h.step(time.Second, core.DriftPreventionTriggered{})
	if !h.StoreSeen.Equal(h.now) {
		t.Errorf("seen at %v, not with the drift tick at %v", h.StoreSeen, h.now)
	}
}

// Over random histories the fold equals what a look at every pod after every step gives: of each
// pod, of their numbers, and of which pods were touched. Nothing is kept of what is gone, and no
// projection changes once it was given out.
func TestFoldEqualsALookAtEveryPod(t *testing.T) {
	seen := map[Status]int{}
	for seed := range uint64(60) {
		h := newHistory(t)
		naive := map[core.PodKey]Pod{}
		random := rand.New(rand.NewPCG(seed, 0))
		for range 120 {
			before := h.Projection
			printed := fmt.Sprint(collect(before))
			h.step(time.Duration(random.IntN(2000))*time.Millisecond, h.draw(random))
			lookAtEveryPod(naive, h.last, h.now)
			counts := map[Count]int{}
			for standing, got := range h.Pods() {
				want := naive[standing.Pod.Key]
				seen[want.Status]++
				if got != want {
					t.Fatalf("seed %d, step %d: %s is\n%+v, want\n%+v", seed, h.seq, standing.Pod.Key, got, want)
				}
				counts[Count{got.Status, got.Reason, got.Cause, 0}]++
			}
			for count := range h.Counts() {
				pods := count.Pods
				count.Pods = 0
				if counts[count] != pods {
					t.Fatalf("seed %d, step %d: %d pods are %+v, not %d", seed, h.seq, counts[count], count, pods)
				}
				delete(counts, count)
			}
			if len(counts) > 0 || h.pods.Len() != h.state.Len() {
				t.Fatalf("seed %d, step %d: not counted %v; %d of %d pods", seed, h.seq, counts,
					h.pods.Len(), h.state.Len())
			}
			if all := h.last.After.Changed(h.last.Before); !sameWhere(h.last, h.Touched, all) {
				t.Fatalf("seed %d, step %d: touched %v of %v by %T", seed, h.seq, h.Touched, all, h.last.Input)
			}
			if again := fmt.Sprint(collect(before)); again != printed {
				t.Fatalf("seed %d, step %d: the projection before has become\n%s, was\n%s", seed, h.seq, again, printed)
			}
		}
	}
	for _, status := range Statuses() {
		if seen[status] == 0 {
			t.Errorf("no pod was ever %s", status)
		}
	}
}

// sameWhere: all pods that stand elsewhere were touched; one that only came to be stored anew with
// equal content need not be.
func sameWhere(step core.Step, touched, all []core.PodKey) bool {
	if !slices.IsSortedFunc(touched, core.PodKey.Compare) {
		return false
	}
	for _, key := range all {
		was, wasKnown := step.Before.Standing(key)
		is, isKnown := step.After.Standing(key)
		if (wasKnown != isKnown || was != is) && !slices.Contains(touched, key) {
			return false
		}
	}
	return !slices.ContainsFunc(touched, func(key core.PodKey) bool { return !slices.Contains(all, key) })
}

func collect(p Projection) (pods []Pod) {
	for _, pod := range p.Pods() {
		pods = append(pods, pod)
	}
	return pods
}

func lookAtEveryPod(records map[core.PodKey]Pod, step core.Step, at time.Time) {
	for key := range records {
		if _, found := step.After.Standing(key); !found {
			delete(records, key)
		}
	}
	for standing := range step.After.Standings() {
		key := standing.Pod.Key
		was, is := records[key], Pod{
			Cause: standing.Verdict.Cause, Reason: standing.Verdict.Reason,
			Since: at, uid: standing.Pod.UID, identity: standing.Identity,
			timer: standing.RetryTimer,
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
			is.UnadmittedSince = at
			if same && !was.UnadmittedSince.IsZero() {
				is.UnadmittedSince = was.UnadmittedSince
			}
		}
		if same && was.Status == is.Status && was.Reason == is.Reason {
			is.Since = was.Since
		}
		if is.timer != 0 {
			is.RetryAt = was.RetryAt
			for _, effect := range step.Effects {
				if start, isTimer := effect.(core.StartTimer); isTimer && start.Timer == is.timer {
					is.RetryAt = at.Add(start.After)
				}
			}
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

// Whatever a gate waits for is named, in any order of arrival, and nothing once it is open (R6).
func TestGateLacks(t *testing.T) {
	h := newHistory(t)
	want := []string{"config", "credentials", "pod store", "sync"}
	for _, input := range []core.Input{
		nil, core.ConfigValidated{AgentPort: 5555}, core.CredentialsUpdated{Credentials: credentials(t, "one")},
		core.PodStoreSet{Synced: core.SyncPending}, core.ResourceSyncComplete{Resource: core.HAProxyPods},
	} {
		if input != nil {
			h.step(0, input)
			want = want[1:]
		}
		if lacks := GateLacks(h.State); !slices.Equal(lacks, want) {
			t.Errorf("after %T it lacks %v, want %v", input, lacks, want)
		}
	}
}

// A full pass is one that looked at every pod: not one before the gate is open, nor one whose input
// was refused.
func TestFullPass(t *testing.T) {
	h := newHistory(t)
	h.step(0, core.DriftPreventionTriggered{})
	if FullPass(h.last) {
		t.Error("a pass through a closed gate")
	}
	h.open(pod("hap-0", "u1"))
	for input, want := range map[core.Input]bool{
		core.ConfigValidated{AgentPort: 1}:                          true,
		core.ConfigValidated{}:                                      false,
		core.CredentialsUpdated{}:                                   false,
		core.CredentialsUpdated{Credentials: credentials(t, "two")}: true,
		core.BecameLeader{}:                                         false,
		core.TimerFired{Timer: 1}:                                   false,
	} {
		if h.step(0, input); FullPass(h.last) != want {
			t.Errorf("%T %+v: a full pass is %v", input, input, !want)
		}
	}
	h.step(0, core.ResourceSyncComplete{Resource: "nodes"})
	if FullPass(h.last) {
		t.Error("another resource's sync is no pass")
	}
}

// A state whose past is unknown has its statuses and numbers all the same.
func TestProjectionOfAState(t *testing.T) {
	h := newHistory(t)
	h.open(pod("hap-0", "u1"), pod("hap-1", "u2"))
	h.finish(time.Second, core.Answer{Version: "3.4.3"})
	h.finish(time.Second, core.Failure{Cause: core.CauseTimeout})
	p := Of(h.state, h.now)
	if p.Count(Admitted) != 1 || p.Count(Rejected) != 1 {
		t.Errorf("the counts are %v", p.counts)
	}
	other, _ := p.Pod(core.PodKey{Namespace: "lb", Name: "hap-1"})
	if other.Cause != core.CauseOther || !other.Since.Equal(h.now) || !other.RetryAt.IsZero() {
		t.Errorf("of the past is told %+v", other)
	}
}
