package fuzz

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"pgregory.net/rapid"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// The world is small, so that random stories meet: few keys, incarnations and addresses.

var keys = []core.PodKey{
	{Namespace: "a", Name: "hap-0"},
	{Namespace: "a", Name: "hap-1"},
	{Namespace: "a", Name: "hap-2"},
	{Namespace: "b", Name: "hap-0"},
	{Namespace: "b", Name: "hap-1"},
}

var addresses = []netip.Addr{
	netip.MustParseAddr("10.1.0.1"),
	netip.MustParseAddr("10.1.0.2"),
	netip.MustParseAddr("fd00::a"),
}

var labelSets = []map[string]string{
	{"app": "lb"},
	{"app": "lb"},
	{"app": "lb", "tier": "edge"},
	{"app": "web"},
	nil,
}

// flaws are what keeps a pod from being a candidate.
var flaws = map[string]func(*core.Pod){
	"terminating":        func(p *core.Pod) { p.Terminating = true },
	"pending":            func(p *core.Pod) { p.Phase = "Pending" },
	"phase unknown":      func(p *core.Pod) { p.Phase = "Unknown" },
	"no IP":              func(p *core.Pod) { p.IP = netip.Addr{} },
	"agent waiting":      func(p *core.Pod) { p.Agent = core.AgentWaiting },
	"agent terminated":   func(p *core.Pod) { p.Agent = core.AgentTerminated },
	"agent missing":      func(p *core.Pod) { p.Agent = core.AgentMissing },
	"agent named":        func(p *core.Pod) { p.Agent, p.NoAgent = core.AgentMissing, "another is there" },
	"malformed":          malformed(0),
	"malformed IP":       malformed(core.FactIP),
	"malformed phase":    malformed(core.FactPhase),
	"malformed labels":   malformed(core.FactLabels),
	"malformed all over": malformed(core.FactPhase | core.FactLabels | core.FactIP),
}

func malformed(unreadable core.Facts) func(*core.Pod) {
	return func(p *core.Pod) {
		p.Malformed = fmt.Sprintf("facts %d cannot be read", unreadable)
		p.Unreadable = unreadable
		p.Agent, p.RuntimeID = core.AgentMissing, ""
		if unreadable.Has(core.FactPhase) {
			p.Phase = ""
		}
		if unreadable.Has(core.FactLabels) {
			p.Labels = nil
		}
		if unreadable.Has(core.FactIP) {
			p.IP = netip.Addr{}
		}
	}
}

var flawNames = slices.Sorted(maps.Keys(flaws))

func drawKey(t *rapid.T) core.PodKey { return rapid.SampledFrom(keys).Draw(t, "key") }

func drawUID(t *rapid.T) string {
	return rapid.SampledFrom([]string{"u1", "u2", "u3"}).Draw(t, "uid")
}

// drawPod gives a pod that is most often a candidate.
func drawPod(t *rapid.T, key core.PodKey) *core.Pod {
	pod := &core.Pod{
		Key:       key,
		UID:       drawUID(t),
		Labels:    rapid.SampledFrom(labelSets).Draw(t, "labels"),
		IP:        rapid.SampledFrom(addresses).Draw(t, "ip"),
		Phase:     core.PhaseRunning,
		Agent:     core.AgentRunning,
		RuntimeID: core.RuntimeID(rapid.SampledFrom([]string{"r1", "r2"}).Draw(t, "runtime")),
	}
	if rapid.IntRange(0, 3).Draw(t, "flawed") == 3 {
		flaws[rapid.SampledFrom(flawNames).Draw(t, "flaw")](pod)
	}
	return pod
}

// drawChanged gives the pod with one thing changed, so that identities often stay.
func drawChanged(t *rapid.T, pod *core.Pod) *core.Pod {
	changed := *pod
	other := drawPod(t, pod.Key)
	switch rapid.IntRange(0, 7).Draw(t, "change") {
	case 0:
		changed.UID = other.UID
	case 1:
		changed.RuntimeID = other.RuntimeID
	case 2:
		changed.IP = other.IP
	case 3:
		changed.Labels = other.Labels
	case 4:
		changed.Phase = other.Phase
	case 5:
		changed.Terminating = !pod.Terminating
	case 6:
		changed.Agent = other.Agent
	default:
		return other
	}
	return &changed
}

// drawOdd gives what is no pod: it has to be dropped.
func drawOdd(t *rapid.T) *core.Pod {
	return rapid.SampledFrom([]*core.Pod{
		nil, {}, {UID: "u1"}, {Key: keys[0], IP: addresses[0], Phase: core.PhaseRunning},
	}).Draw(t, "odd")
}

func drawOutcome(t *rapid.T) core.Outcome {
	switch rapid.IntRange(0, 9).Draw(t, "outcome") {
	case 0:
		return rapid.SampledFrom([]core.Outcome{nil, core.Failure{}, &core.Answer{Version: "1.0"}}).
			Draw(t, "odd outcome")
	case 1, 2:
		return core.Answer{}
	case 3, 4, 5:
		cause := rapid.SampledFrom([]core.Cause{
			core.CauseRefused, core.CauseTimeout, core.CauseTLS, core.CauseUnauthorized,
			core.CauseUnexpectedStatus, core.CauseTooLarge, core.CauseTruncated,
			core.CauseInvalidDocument, core.CauseUnsupportedAPIVersion, core.CauseOther,
		}).Draw(t, "cause")
		return core.Failure{Cause: cause, Detail: "it failed"}
	default:
		return rapid.SampledFrom([]core.Outcome{
			core.Answer{Version: "3.4.3", FullVersion: "3.4.3-1"},
			core.Answer{FullVersion: "v3.3.5 8467a253"},
			core.Answer{Version: "what?"},
		}).Draw(t, "answer")
	}
}
