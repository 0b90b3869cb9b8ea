package core_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// The pure question: of two pods with the same key the last one counts, what is no pod or no
// candidate is left out, the rest is ordered by key (R1 to R5).
func TestDiscoveryCandidates(t *testing.T) {
	basic := credentials(t, "admin", "a-pass")
	pod := func(line string) *core.Pod { return readPod(t, "here", line) }
	pods := []*core.Pod{
		pod("lb/hap-1 u2 fd00::a label=app=lb"),
		nil,
		pod("lb/hap-0 u1 10.1.0.10 label=app=lb"),
		pod("lb/hap-2 u3 10.1.0.12"),
		pod("lb/hap-3 u4 10.1.0.13 label=app=lb agent=waiting"),
		pod(`lb/hap-4 "" 10.1.0.14 label=app=lb`),
		pod("lb/hap-5 u6 - label=app=lb malformed=bad unreadable=ip"),
		pod("lb/hap-6 u7 10.1.0.16 label=app=lb terminating"),
		pod("lb/hap-1 u8 10.1.0.18 label=app=lb"),
	}
	order := append([]*core.Pod(nil), pods...)
	discovery := core.Discovery{
		Config: core.Config{AgentScheme: "https"}, AgentPort: 443, PodSelector: "app in (lb, db)",
	}
	got, err := discovery.Candidates(pods, basic)
	if err != nil {
		t.Fatal(err)
	}
	want := []core.Candidate{
		{Identity: core.Identity{"lb", "hap-0", "u1", "r1", "https://10.1.0.10:443"}, Credentials: basic},
		{Identity: core.Identity{"lb", "hap-1", "u8", "r1", "https://10.1.0.18:443"}, Credentials: basic},
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateComparable(core.Candidate{})); diff != "" {
		t.Errorf("- want, + got:\n%s", diff)
	}
	for i := range pods {
		if pods[i] != order[i] {
			t.Fatalf("the list that was given has changed at %d", i)
		}
	}
	none, err := core.Discovery{AgentPort: 5555}.Candidates(nil, core.Credentials{})
	if err != nil || len(none) != 0 {
		t.Errorf("no pods: %v, %v", none, err)
	}
}

// The same question, asked of one pod: the verdict in full, an identity for candidates only. Without
// settings, as before the gate opens, nothing is decided.
func TestJudge(t *testing.T) {
	judge, err := core.Discovery{AgentPort: 5555, PodSelector: "app=lb"}.Judge()
	if err != nil {
		t.Fatal(err)
	}
	candidate := readPod(t, "here", "lb/hap-0 u1 10.1.0.10 label=app=lb")
	verdict, identity := judge.Verdict(candidate)
	want := core.Identity{"lb", "hap-0", "u1", "r1", "http://10.1.0.10:5555"}
	if verdict != (core.Verdict{Kind: core.IsCandidate}) || identity != want {
		t.Errorf("got %v, %v", verdict, identity)
	}
	rejected := readPod(t, "here", "lb/hap-0 u1 10.1.0.10 label=app=lb agent=waiting")
	verdict, identity = judge.Verdict(rejected)
	reason := core.ReasonAgentContainerNotRunning
	if verdict != (core.Verdict{core.Rejected, reason, core.CauseWaiting}) || identity.UID != "" {
		t.Errorf("got %v, %v", verdict, identity)
	}
	if verdict, identity := (core.Judge{}).Verdict(candidate); verdict.Kind != core.Undecided ||
		identity.UID != "" {
		t.Errorf("got %v, %v", verdict, identity)
	}
}

// An error says which setting is invalid, in one line.
func TestDiscoveryNamesTheInvalidSetting(t *testing.T) {
	for names, discovery := range map[string]core.Discovery{
		"agent port 0":     {},
		"agent port 65536": {AgentPort: 65536},
		"pod selector":     {AgentPort: 5555, PodSelector: "a in"},
		"AgentScheme":      {AgentPort: 5555, Config: core.Config{AgentScheme: "ftp"}},
	} {
		_, err := discovery.Candidates(nil, core.Credentials{})
		if err == nil || !strings.Contains(err.Error(), names) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", names, err)
		}
	}
}

// A selector that is no selector is refused by Reduce as well, and the gate stays closed.
func TestReduceRefusesAnInvalidSelector(t *testing.T) {
	state, effects := core.Reduce(core.New(core.Config{}),
		core.ConfigValidated{AgentPort: 5555, PodSelector: "a in"})
	_, known := state.Settings()
	refuse, isRefusal := effects[0].(core.Refuse)
	if known || !isRefusal || !strings.Contains(refuse.Reason, "pod selector") {
		t.Errorf("got %v", effects)
	}
}

// New panics where the numbers contradict each other: a programmer's error.
func TestNewPanicsOnAnInvalidConfig(t *testing.T) {
	for names, config := range map[string]core.Config{
		"AgentScheme":       {AgentScheme: "HTTP"},
		"MaxProbes -1":      {MaxProbes: -1},
		"MaxRetries 3":      {MaxProbes: 2, MaxRetries: 3},
		"MaxRetries -1":     {MaxRetries: -1},
		"ProbeTimeout 2ns":  {ProbeTimeout: 2, MaxProbeTimeout: 1},
		"ProbeTimeout -1ns": {ProbeTimeout: -1},
		"RetryDelay":        {RetryDelay: -1},
		"PublishDelay":      {PublishDelay: -1},
		"FirstPublishDelay": {FirstPublishDelay: -1},
	} {
		func() {
			defer func() {
				if text, _ := recover().(string); !strings.Contains(text, names) {
					t.Errorf("%s: panicked with %q", names, text)
				}
			}()
			core.New(config)
		}()
	}
	if core.New(core.Config{}).Config() != core.DefaultConfig() {
		t.Error("the zero config is not the default")
	}
}

// Equal compares every fact; a fact it forgot would go unnoticed for ever.
func TestPodEqualComparesEveryFact(t *testing.T) {
	pod := func() *core.Pod { return readPod(t, "here", "lb/hap-0 u1 10.1.0.10 label=app=lb") }
	if one := pod(); !one.Equal(one) || !one.Equal(pod()) {
		t.Error("two readings of the same pod differ")
	}
	for name, change := range map[string]func(*core.Pod){
		"namespace":   func(p *core.Pod) { p.Key.Namespace = "x" },
		"name":        func(p *core.Pod) { p.Key.Name = "x" },
		"UID":         func(p *core.Pod) { p.UID = "x" },
		"labels":      func(p *core.Pod) { p.Labels = map[string]string{"app": "x"} },
		"IP":          func(p *core.Pod) { p.IP = netip.MustParseAddr("10.1.0.11") },
		"phase":       func(p *core.Pod) { p.Phase = "x" },
		"terminating": func(p *core.Pod) { p.Terminating = true },
		"agent":       func(p *core.Pod) { p.Agent = core.AgentWaiting },
		"runtime ID":  func(p *core.Pod) { p.RuntimeID = "x" },
		"malformed":   func(p *core.Pod) { p.Malformed = "x" },
		"unreadable":  func(p *core.Pod) { p.Unreadable = core.FactIP },
	} {
		changed := pod()
		change(changed)
		if changed.Equal(pod()) || pod().Equal(changed) {
			t.Errorf("Equal does not see another %s", name)
		}
	}
}

// Every kind of verdict has a name, and so has what is none.
func TestVerdictKindsHaveNames(t *testing.T) {
	for kind, want := range map[core.VerdictKind]string{
		core.Undecided: "undecided", core.Ignored: "ignored", core.Rejected: "rejected",
		core.IsCandidate: "candidate", 4: "undecided", 255: "candidate",
	} {
		if got := kind.String(); got != want {
			t.Errorf("kind %d is %q instead of %q", kind, got, want)
		}
	}
}
