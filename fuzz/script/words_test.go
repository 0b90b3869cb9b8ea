package script

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// The words of the language: few of each, so that stories meet.
var (
	keys = []core.PodKey{
		{Namespace: "a", Name: "hap-0"}, {Namespace: "a", Name: "hap-1"},
		{Namespace: "b", Name: "hap-0"}, {Namespace: "b", Name: "hap-1"},
	}
	addresses = []netip.Addr{
		netip.MustParseAddr("10.1.0.1"), netip.MustParseAddr("10.1.0.2"),
		netip.MustParseAddr("fd00::a"), {},
	}
	labels    = []map[string]string{{"app": "lb"}, {"app": "lb", "tier": "edge"}, {"app": "db"}, nil}
	phases    = []string{core.PhaseRunning, core.PhaseRunning, core.PhaseRunning, "Pending"}
	agents    = []core.AgentState{core.AgentRunning, core.AgentRunning, core.AgentWaiting, ""}
	flaws     = []core.Facts{0, core.FactPhase, core.FactLabels | core.FactIP, core.FactIP}
	ports     = []int{5555, 5555, 5556, 0}
	selectors = []string{"", "app=lb", "!tier", "app in"}
	syncs     = []core.Sync{core.SyncDone, core.SyncUnknown, core.SyncPending, 77}
	outcomes  = []core.Outcome{
		core.Answer{Version: "3.4.3"}, core.Answer{FullVersion: "3.3.5-1"}, core.Answer{},
		core.Failure{Cause: core.CauseTimeout}, core.Failure{Cause: core.CauseRefused, Detail: "x"},
		core.Failure{}, nil, (*core.Answer)(nil),
	}
	credentials = []core.Credentials{
		newCredentials("alpha"), newCredentials("beta"), newCredentials("gamma"), {},
	}
	configs = []core.Config{
		{MaxProbes: 2, MaxRetries: 1}, {MaxProbes: 1, MaxRetries: 1}, {MaxProbes: 3, MaxRetries: 2}, {},
	}
	nonsense = []core.Input{
		nil, &core.BecameLeader{}, (*core.ConfigValidated)(nil), core.ProbeFinished{},
		core.ProbeFinished{Probe: 1 << 60}, core.TimerFired{}, core.TimerFired{Timer: 1 << 60},
		core.ResourceSyncComplete{Resource: "\xff"},
	}
)

func newCredentials(password string) core.Credentials {
	c, err := core.NewCredentials("admin", password)
	if err != nil {
		panic(err)
	}
	return c
}

// script is what is left to be read, and the world that it is about.
type script struct {
	bytes []byte
	world map[core.PodKey]*core.Pod
}

func (s *script) next() byte {
	if len(s.bytes) == 0 {
		return 0
	}
	b := s.bytes[0]
	s.bytes = s.bytes[1:]
	return b
}

func pick[T any](s *script, words []T) T { return words[int(s.next())%len(words)] }

// pod reads three bytes: which one it is, where it runs, and what is wrong with it.
func (s *script) pod() *core.Pod {
	who, where, how := s.next(), s.next(), s.next()
	if how == 255 {
		return nil
	}
	pod := &core.Pod{
		Key:       keys[who&3],
		UID:       fmt.Sprintf("u%d", who>>2&3),
		RuntimeID: core.RuntimeID(fmt.Sprintf("r%d", who>>4&1)),
		IP:        addresses[where&3],
		Labels:    labels[where>>2&3],
		Phase:     phases[how&3],
		Agent:     agents[how>>2&3],
	}
	pod.Terminating = how>>4&3 == 1
	if pod.Agent == core.AgentMissing && how>>5&1 == 1 {
		pod.NoAgent = "there is another"
	}
	if how>>6 != 0 {
		pod.Malformed, pod.Unreadable = "bad", flaws[how>>6]
	}
	if who>>5 == 7 {
		pod.UID = "" // That is no pod.
	}
	return pod
}

func (s *script) pods() []*core.Pod {
	pods := make([]*core.Pod, s.next()%4)
	for i := range pods {
		pods[i] = s.pod()
	}
	return pods
}

// store is what a reliable read gives.
func (s *script) store() []*core.Pod {
	return slices.SortedFunc(maps.Values(s.world),
		func(a, b *core.Pod) int { return a.Key.Compare(b.Key) })
}

func (s *script) place(pod *core.Pod) {
	if pod != nil && pod.UID != "" {
		s.world[pod.Key] = pod
	}
}

// read is a read of the store, which may be a wrong one.
func (s *script) read() []*core.Pod {
	if s.next()%4 == 3 {
		return s.pods()
	}
	return s.store()
}

// input reads one verb and its words.
func (s *script) input(state core.State) (core.Input, bool) {
	return verbs[int(s.next())%len(verbs)](s, state)
}
