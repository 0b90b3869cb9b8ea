package output

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 5_000_000, time.UTC)

func printed(t *testing.T, format Format, print func(*Printer) error) string {
	t.Helper()
	var out bytes.Buffer
	printer := NewPrinter(&out, format)
	if err := print(printer); err != nil {
		t.Fatal(err)
	}
	if err := printer.Flush(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

var evil = core.HAProxyPodRejected{
	Namespace: "lb", Name: "a\x1b[2J\nFAKE", UID: "u", Reason: core.ReasonMalformedPod,
	Cause: core.CauseMalformed, Detail: "<b>&\u2028",
}

// Nor does one reorder the line: text in another direction stays, the characters that set it go.
func TestTextCannotBeTurnedAround(t *testing.T) {
	turned := evil
	turned.Name, turned.Detail = "a\u202egnp.b\u2066c\u200f", "שלום é\ufeff"
	text := printed(t, Text, func(p *Printer) error { return p.Event(noon, turned) })
	if strings.ContainsAny(text, "\u202e\u2066\u200f\ufeff") ||
		!strings.Contains(text, "a\ufffdgnp.b\ufffdc\ufffd ") || !strings.Contains(text, "(שלום é\ufffd)") {
		t.Errorf("%q", text)
	}
}

// A name with control characters breaks no line and moves no cursor.
func TestEveryEventIsOneLine(t *testing.T) {
	text := printed(t, Text, func(p *Printer) error { return p.Event(noon, evil) })
	if strings.Count(text, "\n") != 1 || strings.Contains(text, "\x1b") {
		t.Errorf("%q", text)
	}
	line := printed(t, JSON, func(p *Printer) error { return p.Event(noon, evil) })
	var event map[string]any
	if err := json.Unmarshal([]byte(line), &event); err != nil || strings.Count(line, "\n") != 1 {
		t.Fatalf("%q: %v", line, err)
	}
	if event["name"] != evil.Name || event["detail"] != evil.Detail || event["time"] != "2026-01-02T12:00:00.005Z" {
		t.Errorf("%v", event)
	}
}

func TestTextOfAPublication(t *testing.T) {
	credentials, _ := core.NewCredentials("admin", "secret")
	var endpoints []core.Endpoint
	var keys []core.PodKey
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		endpoints = append(endpoints, core.Endpoint{
			Identity: core.Identity{Namespace: "lb", Name: name, UID: name}, Version: core.ParseVersion("3.4.3"),
		})
		keys = append(keys, core.PodKey{Namespace: "lb", Name: name})
	}
	got := printed(t, Text, func(p *Printer) error {
		return p.Event(noon, core.HAProxyPodsDiscovered{
			Fleet: core.NewFleet(credentials, endpoints...), Generation: 7, Trigger: core.TriggerTimerFired,
			Added: keys, Removed: keys[:1], CredentialsChanged: true,
		})
	})
	want := "12:00:00.005  DISCOVERED  generation=7 endpoints=7 trigger=timer_fired credentials_changed" +
		" +lb/a(3.4.3) +lb/b(3.4.3) +lb/c(3.4.3) +lb/d(3.4.3) +lb/e(3.4.3) +2 more -lb/a\n"
	if got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// A step shows its input and all its effects, in both formats, for every kind of either.
func TestStepsOfEveryKind(t *testing.T) {
	inputs := []core.Input{
		core.ConfigValidated{AgentPort: 5555}, core.CredentialsUpdated{}, core.PodStoreSet{Pods: []*core.Pod{nil}},
		core.ResourceIndexUpdated{Upserted: []*core.Pod{nil, {}}, Deleted: []core.PodRef{{UID: "u"}}},
		core.ResourceSyncComplete{}, core.BecameLeader{}, core.DriftPreventionTriggered{},
		core.ProbeFinished{Probe: 1}, core.ProbeFinished{Outcome: core.Answer{FullVersion: "3.4"}},
		core.ProbeFinished{Outcome: core.Failure{Cause: core.CauseTLS}}, core.TimerFired{Timer: 3}, nil,
	}
	effects := []core.Effect{
		core.Refuse{Reason: "because"}, core.CancelProbe{Probe: 1}, core.StopTimer{Timer: 2},
		core.Publish{Event: evil}, core.Publish{Event: core.HAProxyPodTerminated{Cause: core.CauseNoIP}},
		core.Publish{Event: core.HAProxyPodsDiscovered{}}, core.StartTimer{Timer: 3, After: time.Second},
		core.StartProbe{Probe: 4, Timeout: 2 * time.Second},
	}
	for _, input := range inputs {
		step := Step{Seq: 1, Time: noon, Input: input, Effects: effects}
		text := printed(t, Text, func(p *Printer) error { return p.Step(step) })
		if strings.Count(text, "\n") != 1+len(effects) {
			t.Errorf("%T: %q", input, text)
		}
		var decoded struct {
			Input   map[string]any
			Effects []map[string]any
		}
		line := printed(t, JSON, func(p *Printer) error { return p.Step(step) })
		if err := json.Unmarshal([]byte(line), &decoded); err != nil || len(decoded.Effects) != len(effects) {
			t.Fatalf("%T: %v in %q", input, err, line)
		}
		if unknown := decoded.Input["kind"] == "unknown"; unknown != (input == nil) {
			t.Errorf("%T: %v", input, decoded.Input)
		}
		if decoded.Effects[7]["timeout_ms"] != 2000.0 || decoded.Effects[5]["event"] != "HAProxyPodsDiscovered" {
			t.Errorf("effects: %v", decoded.Effects)
		}
	}
}
