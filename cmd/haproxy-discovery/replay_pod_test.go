package main

import (
	"bytes"
	"net/netip"
	"strings"
	"testing"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

var (
	ours    = core.PodKey{Namespace: "lb", Name: "hap-20"}
	epoch   = core.RuntimeID(strings.Repeat("0123456789abcdef", 4))
	changes = func(pods ...*core.Pod) core.ResourceIndexUpdated {
		return core.ResourceIndexUpdated{Resource: core.HAProxyPods, Upserted: pods}
	}
)

// ourPod is the pod of the stories, as it is when nothing stands against it.
func ourPod(changes ...func(*core.Pod)) *core.Pod {
	pod := &core.Pod{
		Key: ours, UID: "u20", Labels: map[string]string{"app": "haproxy"},
		IP: netip.MustParseAddr("10.1.0.20"), Phase: core.PhaseRunning,
		Agent: core.AgentRunning, RuntimeID: epoch,
	}
	for _, change := range changes {
		change(pod)
	}
	return pod
}

func pending(pod *core.Pod) {
	pod.Phase, pod.IP, pod.Agent, pod.RuntimeID = "Pending", netip.Addr{}, core.AgentMissing, ""
}

func waiting(pod *core.Pod) { pod.Agent = core.AgentWaiting }

func relabelled(pod *core.Pod) { pod.Labels = map[string]string{"app": "other"} }

// neighbours are pods beside ours, of the UIDs that the suffix makes.
func neighbours(first, end int, suffix string) []*core.Pod {
	var pods []*core.Pod
	for _, pod := range podsFrom(first, end) {
		if pod.Key != ours {
			pod.UID += suffix
			pod.Labels = map[string]string{"app": "haproxy"}
			pods = append(pods, pod)
		}
	}
	return pods
}

// recordPodStory writes the log of a pod that comes, is slow to answer, is admitted, relabelled and
// gone, beside 40 others, some of which change in the same steps.
func recordPodStory(t *testing.T) string {
	t.Helper()
	log := newStoryLog(t)
	log.answer = func(start core.StartProbe) core.Outcome {
		if start.Identity.Key() == ours && start.Timeout == log.state.Config().ProbeTimeout {
			return core.Failure{Cause: core.CauseTimeout, Detail: "no complete answer within 1s"}
		}
		return core.Answer{Version: "3.4.3"}
	}
	log.begin("app=haproxy", append(neighbours(0, 41, ""), ourPod(pending))...)
	log.put(changes(append(neighbours(0, 7, "-again"), ourPod(waiting))...))
	log.put(changes(ourPod()))
	log.put(core.BecameLeader{})
	standing, _ := log.state.Standing(ours)
	log.put(core.TimerFired{Timer: standing.RetryTimer})
	var everybody []*core.Pod
	for standing := range log.state.Standings() {
		everybody = append(everybody, standing.Pod)
	}
	log.put(core.DriftPreventionTriggered{Pods: everybody})
	deselection := changes(ourPod(relabelled))
	for _, gone := range neighbours(0, 7, "-again") {
		deselection.Deleted = append(deselection.Deleted, core.PodRef{Key: gone.Key, UID: gone.UID})
	}
	log.put(deselection)
	log.put(core.ResourceIndexUpdated{
		Resource: core.HAProxyPods, Deleted: []core.PodRef{{Key: ours, UID: "u20"}},
	})
	return log.close()
}

func replayed(t *testing.T, args ...string) string {
	t.Helper()
	var out, errOut bytes.Buffer
	root := newRootCommand(nil, &out, &errOut)
	root.SetArgs(append([]string{"replay"}, args...))
	if err := root.ExecuteContext(t.Context()); err != nil || errOut.Len() > 0 {
		t.Fatalf("%v: %v\n%s", args, err, &errOut)
	}
	return out.String()
}

// Of each step, what concerns the pod, and of the rest that there was some.
func TestReplayTellsTheStoryOfOnePod(t *testing.T) {
	const story = `
     3  2026-01-02T03:04:05.002Z  pod_store_set pods=41 synced=yes
        pod uid=u20 phase=Pending terminating=false agent=missing selector_match=yes labels=app=haproxy
        verdict unknown -> ignored (not_running)
        (other effects: 17)
    44  2026-01-02T03:04:05.043Z  resource_index_updated upserted=[lb/hap-20@u20] other_pods=7
        pod phase=Running ip=10.1.0.20 agent=waiting runtime_id=01234567
        verdict ignored (not_running) -> rejected (agent_container_not_running, waiting)
        -> REJECTED    lb/hap-20 uid=u20 agent_container_not_running cause=waiting
        (other effects: 15)
    52  2026-01-02T03:04:05.051Z  resource_index_updated upserted=[lb/hap-20@u20]
        pod agent=running
        verdict rejected (agent_container_not_running, waiting) -> candidate
        -> start_probe probe=48 pod=lb/hap-20 uid=u20 runtime_id=01234567 url=http://10.1.0.20:5555 timeout=1s purpose=first_attempt
    53  2026-01-02T03:04:05.052Z  probe_finished probe=48 pod=lb/hap-20 purpose=first_attempt outcome=failure cause=timeout detail=no complete answer within 1s
        verdict candidate -> rejected (agent_unreachable, timeout)
        -> REJECTED    lb/hap-20 uid=u20 agent_unreachable cause=timeout attempt=1 retry_in=982ms (no complete answer within 1s)
        -> start_timer timer=4 after=982ms pod=lb/hap-20 purpose=retry
    55  2026-01-02T03:04:05.054Z  timer_fired timer=4 pod=lb/hap-20 purpose=retry
        -> start_probe probe=49 pod=lb/hap-20 uid=u20 runtime_id=01234567 url=http://10.1.0.20:5555 timeout=2s purpose=retry
    56  2026-01-02T03:04:05.055Z  probe_finished probe=49 pod=lb/hap-20 purpose=retry outcome=answer version=3.4.3
        verdict rejected (agent_unreachable, timeout) -> admitted
        -> DISCOVERED  generation=4 endpoints=41 trigger=probe_finished +lb/hap-20(3.4.3)
    58  2026-01-02T03:04:05.057Z  resource_index_updated upserted=[lb/hap-20@u20] other_pods=7
        pod selector_match=no labels=app=other
        verdict admitted -> ignored (deselected)
        -> TERMINATED  lb/hap-20 uid=u20 http://10.1.0.20:5555 cause=deselected
        -> DISCOVERED  generation=6 endpoints=33 trigger=resource_index_updated -lb/hap-20 -7 others
        (other effects: 7)
    59  2026-01-02T03:04:05.058Z  resource_index_updated deleted=[lb/hap-20@u20]
        verdict ignored (deselected) -> gone
`
	got := replayed(t, recordPodStory(t), "-o", "text", "--pod", "lb/hap-20")
	if got = stepsOf(got); got != story[1:] {
		t.Errorf("got:\n%s\nwant:%s", got, story)
	}
}

// JSON says after each step what is known, in full.
func TestReplayOfOnePodAsJSON(t *testing.T) {
	full := string(epoch)
	lines := strings.Split(replayed(t, recordPodStory(t), "-o", "json", "--pod", "lb/hap-20"), "\n")
	for seq, want := range map[int]string{
		2: `{"seq":52,"time":"2026-01-02T03:04:05.051000006Z",` +
			`"input":{"kind":"resource_index_updated","upserted":["lb/hap-20@u20"],"deleted":[]},` +
			`"effects":[{"effect":"start_probe","probe":48,"pod":"lb/hap-20","uid":"u20","runtime_id":"` + full +
			`","url":"http://10.1.0.20:5555","timeout_ms":1000,"purpose":"first_attempt"}],` +
			`"pod":{"pod":"lb/hap-20","uid":"u20","phase":"Running","ip":"10.1.0.20","terminating":false,` +
			`"agent":"running","no_agent":"","runtime_id":"` + full + `","malformed":"","selector_match":"yes",` +
			`"labels":{"app":"haproxy"}},"verdict_before":{"verdict":"rejected",` +
			`"reason":"agent_container_not_running","cause":"waiting","detail":""},` +
			`"verdict":{"verdict":"candidate","reason":"","cause":"","detail":""},"queued":false,"other_effects":0}`,
		7: `{"seq":59,"time":"2026-01-02T03:04:05.058000006Z",` +
			`"input":{"kind":"resource_index_updated","upserted":[],"deleted":["lb/hap-20@u20"]},"effects":[],` +
			`"pod":null,"verdict_before":{"verdict":"ignored","reason":"","cause":"deselected","detail":""},` +
			`"verdict":null,"queued":false,"other_effects":0}`,
	} {
		if len(lines) != 10 || lines[seq] != want {
			t.Errorf("%d lines, line %d\ngot  %s\nwant %s", len(lines), seq, lines[min(seq, len(lines)-1)], want)
		}
	}
	if !strings.Contains(lines[6], `"other_pods":7`) || !strings.Contains(lines[6], `"other_effects":7`) {
		t.Errorf("what was left out is not counted: %s", lines[6])
	}
}

func TestStateOfOnePod(t *testing.T) {
	log := recordPodStory(t)
	const want = `STATE at=seq 58 gate_open=true store_synced=true agent_port=5555 pod_selector=app=haproxy ` +
		`username=admin generation=6 published=33 publish_timer=0 first_publish_timer=0
  pod lb/hap-20 uid=u20 verdict=ignored cause=deselected phase=Running ip=10.1.0.20 terminating=false ` +
		`agent=running runtime_id=01234567 selector_match=no labels=app=other
`
	got := replayed(t, log, "-o", "text", "--pod", "lb/hap-20", "--state", "--quiet", "--until", "58")
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	// 16 others are being probed then, 24 queued.
	busy := replayed(t, log, "-o", "json", "--pod", "lb/hap-20", "--state", "--quiet", "--until", "3")
	if strings.Contains(busy, "hap-0") || strings.Count(busy, `"pod":`) != 1 {
		t.Errorf("others are shown: %s", busy)
	}
}

// Whatever stands against a pod, the step that brings it says so.
func TestReplayTellsWhyAPodIsIgnored(t *testing.T) {
	for _, c := range []struct {
		change  func(*core.Pod)
		facts   string
		verdict string
	}{
		{pending, "phase=Pending ip=none agent=missing runtime_id=none", "ignored (not_running)"},
		{func(pod *core.Pod) { pending(pod); relabelled(pod) },
			"phase=Pending ip=none agent=missing runtime_id=none selector_match=no labels=app=other",
			"ignored (not_running)"},
		{func(pod *core.Pod) { pod.IP = netip.Addr{} }, "ip=none", "ignored (no_ip)"},
		{func(pod *core.Pod) { pod.Terminating = true }, "terminating=true", "ignored (terminating)"},
		{relabelled, "selector_match=no labels=app=other", "ignored (deselected)"},
		{func(pod *core.Pod) { pod.Malformed, pod.Unreadable = "labels are a list", core.FactLabels },
			"malformed=labels are a list selector_match=unreadable", "rejected (malformed_pod, malformed)"},
		{func(pod *core.Pod) { pod.UID = "u21" }, "uid=u21 phase=Running ip=10.1.0.20 terminating=false " +
			"agent=running runtime_id=01234567 selector_match=yes labels=app=haproxy", "candidate"},
	} {
		log := newStoryLog(t)
		log.begin("app=haproxy", ourPod())
		log.put(changes(ourPod(c.change)))
		got := replayed(t, log.close(), "-o", "text", "--pod", "lb/hap-20")
		want := "\n        pod " + c.facts + "\n        verdict admitted -> " + c.verdict + "\n"
		if !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
}

// A candidate waits for a place among the probes, and once admitted for its publication; what
// happens to others meanwhile is none of its story.
func TestReplayTellsWhatAPodWaitsFor(t *testing.T) {
	crowded := newStoryLog(t)
	crowded.begin("", podsFrom(0, 40)...)
	first := newStoryLog(t)
	first.begin("", append([]*core.Pod{ourPod()}, neighbours(20, 40, "")...)...)
	for log, want := range map[string][]string{
		crowded.close(): {
			"     3 ", "verdict unknown -> candidate", "queued until a probe finishes", "(other effects: 17)",
			"     8 ", "-> start_probe probe=21 pod=lb/hap-20", "    24 ", "verdict candidate -> admitted",
			"    43 ", "+lb/hap-20(3.4.3) +39 others",
		},
		first.close(): {
			"     3 ", "-> start_probe probe=1 ", "     4 ", "verdict candidate -> admitted",
			"-> start_timer timer=2 after=100ms", "    23 ", "-> stop_timer timer=2", "+lb/hap-20(3.4.3) +19 others",
		},
	} {
		got := replayed(t, log, "-o", "text", "--pod", "lb/hap-20")
		rest := got
		for _, text := range want {
			_, after, found := strings.Cut(rest, text)
			if !found {
				t.Fatalf("no %q in its place in:\n%s", text, got)
			}
			rest = after
		}
	}
}

// What was not known when the facts came is told with the step that needs it.
func TestReplayTellsTheSelectorMatchOnceItIsKnown(t *testing.T) {
	log := newStoryLog(t)
	log.put(core.PodStoreSet{Pods: []*core.Pod{ourPod(relabelled)}, Synced: core.SyncDone})
	log.begin("app=haproxy", ourPod(relabelled))
	got := replayed(t, log.close(), "-o", "text", "--pod", "lb/hap-20")
	for _, want := range []string{
		"selector_match=unknown labels=app=other\n        verdict unknown -> undecided\n",
		"credentials_updated username=admin\n        pod selector_match=no\n" +
			"        verdict undecided -> ignored (deselected)\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
}

// A pass that does no more for the pod than to reset its back-off, as its probe is in flight, is no
// part of its story.
func TestReplayLeavesOutWhatOnlyResetsTheBackOff(t *testing.T) {
	log := newStoryLog(t)
	log.answer = func(core.StartProbe) core.Outcome { return core.Failure{Cause: core.CauseRefused} }
	log.begin("app=haproxy", ourPod())
	standing, _ := log.state.Standing(ours)
	log.step(core.TimerFired{Timer: standing.RetryTimer}) // its probe is not answered
	log.step(core.ConfigValidated{AgentPort: 5555, PodSelector: "app=haproxy"})
	if reset, _ := log.state.Standing(ours); reset.Attempts != 0 || reset.Probe == 0 {
		t.Fatalf("%+v", reset)
	}
	got := replayed(t, log.close(), "-o", "text", "--pod", "lb/hap-20")
	if !strings.Contains(got, "timer_fired") || strings.Contains(got, "config_validated") {
		t.Errorf("got:\n%s", got)
	}
}

// A selector that changes is told in the step that has changed it, though the verdict stays: a pod
// that is Pending is ignored for that first.
func TestReplayTellsThatASelectorHasChanged(t *testing.T) {
	log := newStoryLog(t)
	log.begin("app=haproxy", append(neighbours(0, 3, ""), ourPod(pending))...)
	log.put(core.ConfigValidated{AgentPort: 5555, PodSelector: "app=other"})
	log.put(core.ConfigValidated{AgentPort: 5556, PodSelector: "app=other"})
	story := replayed(t, log.close(), "--pod", "lb/hap-20", "-o", "text")
	_, told, _ := strings.Cut(story, "config_validated agent_port=5555 pod_selector=app=other\n")
	if !strings.HasPrefix(told, "        pod selector_match=no\n") || strings.Contains(story, "5556") {
		t.Errorf("the story is\n%s", story)
	}
}
