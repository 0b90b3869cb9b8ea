package world

import (
	"net/netip"
	"slices"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/fuzz/oracle"
)

// turn is something that somebody does. The run's classes say which turns it has.
type turn struct {
	class class
	does  func(w *World, c *choice)
}

// always is the class of what every run has.
const always class = 0

var allTurns = []turn{
	{always, func(*World, *choice) {}},
	{always, func(w *World, c *choice) { w.create(w.slot(c)) }},
	{always, func(w *World, c *choice) { w.terminate(w.slot(c)) }},
	{always, func(w *World, c *choice) { w.remove(w.slot(c)) }},
	{always, (*World).replace},
	{rollouts, (*World).rollOut},
	{crashes, (*World).crash},
	{crashes, func(w *World, c *choice) { w.changed(w.slot(c), restarted) }},
	{evictions, (*World).evict},
	{nodeLosses, (*World).loseNode},
	{staticPods, (*World).bounce},
	{addressMoves, func(w *World, c *choice) { w.changed(w.slot(c), moved) }},
	{relabelling, (*World).relabel},
	{malformedPods, (*World).garble},
	{duplicateNames, func(w *World, c *choice) { w.name(w.slot(c)) }},
	{staleLists, func(w *World, _ *choice) { w.oldList = append(w.oldList[:0], w.list()...) }},
	{staleLists, func(w *World, _ *choice) { w.driftStale() }},
	{badMoods, (*World).changeMood},
	{outages, (*World).outage},
	{rotations, (*World).rotate},
	{rotations, func(w *World, _ *choice) { w.authorize() }},
	{configChanges, (*World).changeConfig},
	{configChanges, func(w *World, _ *choice) { w.configure() }},
	{storeSwaps, func(w *World, c *choice) { w.setStore(syncs[c.of(len(syncs))]) }},
	{leaderChanges, func(w *World, _ *choice) { w.lead() }},
	{driftTicks, func(w *World, _ *choice) { w.drift() }},
	{nonsense, (*World).talkNonsense},
}

var syncs = [...]core.Sync{core.SyncDone, core.SyncPending, core.SyncUnknown}

// gaps are the times between turns.
var gaps = [...]time.Duration{
	0, 10 * time.Millisecond, 100 * time.Millisecond, time.Second, 3 * time.Second,
	0, 2 * time.Millisecond, 50 * time.Millisecond, 200 * time.Millisecond, 700 * time.Millisecond,
	12 * time.Second, 40 * time.Second,
}

// takeTurn lets some time pass, and somebody do something.
func (w *World) takeTurn(word uint32) {
	w.noise.begin(word)
	c := choice(word)
	does := w.turns[c.of(len(w.turns))].does
	w.pass(gaps[c.of(len(gaps))])
	does(w, &c)
}

func (w *World) slot(c *choice) int { return c.of(len(w.cluster.slots)) }

// replace has another pod under the same name, with no time between them for anybody to see.
func (w *World) replace(c *choice) {
	at := w.slot(c)
	w.remove(at)
	w.cluster.slots[at].pod = nil
	w.create(at)
}

// rollOut replaces several pods: under other names first come, first go; or under the same ones.
func (w *World) rollOut(c *choice) {
	from, count, sameNames := w.slot(c), 1+c.of(4), c.of(2) == 1
	for i := range count {
		at := (from + i) % len(w.cluster.slots)
		switch {
		case w.cluster.slots[at].pod == nil:
			w.create(at)
		case sameNames:
			w.remove(at)
			w.create(at)
		default:
			w.terminate(at)
		}
	}
}

// changed gives a pod other facts.
func (w *World) changed(at int, change func(w *World, pod *core.Pod)) {
	pod := w.cluster.slots[at].pod
	if pod == nil || pod.Malformed != "" {
		return
	}
	other := *pod
	change(w, &other)
	w.change(at, &other)
}

func restarted(w *World, pod *core.Pod) {
	if pod.Phase == core.PhaseRunning {
		pod.RuntimeID = w.newRuntime()
	}
}

func moved(w *World, pod *core.Pod) {
	if pod.IP.IsValid() {
		w.giveBack(pod.IP)
		pod.IP = w.takeAddress()
	}
}

// crash ends the agent's container, which comes back after a while.
func (w *World) crash(c *choice) {
	at := w.slot(c)
	if pod := w.cluster.slots[at].pod; pod == nil || pod.Phase != core.PhaseRunning {
		return
	}
	down := [...]core.AgentState{core.AgentTerminated, core.AgentWaiting, core.AgentMissing}[c.of(3)]
	w.changed(at, func(_ *World, pod *core.Pod) { pod.Agent = down })
	w.moveOnLater(at)
}

// evict fails a pod: it keeps its name, has no address any more, and is cleared away later.
func (w *World) evict(c *choice) {
	at := w.slot(c)
	w.changed(at, func(w *World, pod *core.Pod) {
		w.giveBack(pod.IP)
		pod.Phase, pod.IP, pod.Agent, pod.RuntimeID = "Failed", netip.Addr{}, core.AgentMissing, ""
		w.clock.after(w.while(2*time.Second), happening{kind: podGoes, slot: at, uid: pod.UID})
	})
}

// loseNode makes every third pod unknown or terminating; some heal, with what ran before.
func (w *World) loseNode(c *choice) {
	terminating, heals := c.of(2) == 1, c.of(3) < 2
	for at := c.of(3); at < len(w.cluster.slots); at += 3 {
		s := &w.cluster.slots[at]
		if s.pod == nil || s.pod.Phase != core.PhaseRunning || s.pod.Malformed != "" {
			continue
		}
		s.before = s.pod
		w.changed(at, func(_ *World, pod *core.Pod) {
			pod.Terminating = terminating
			if !terminating {
				pod.Phase = "Unknown"
			}
		})
		if !terminating && heals {
			w.clock.after(w.while(time.Second), happening{kind: podHeals, slot: at, uid: s.pod.UID})
		} else {
			w.clock.after(w.while(5*time.Second), happening{kind: podGoes, slot: at, uid: s.pod.UID})
		}
	}
}

// bounce takes a static pod away and brings it back under its old UID, with its old containers or
// with new ones.
func (w *World) bounce(c *choice) {
	at := w.slot(c)
	pod := w.cluster.slots[at].pod
	if pod == nil || pod.Terminating || pod.Malformed != "" {
		return
	}
	w.change(at, nil)
	back := *pod
	if c.of(2) == 1 {
		restarted(w, &back)
	}
	if c.of(2) == 1 {
		w.pass(w.watchLag)
	}
	if w.cluster.slots[at].pod == nil {
		w.change(at, &back)
	}
}

func (w *World) relabel(c *choice) {
	at, labels := w.slot(c), labelSets[c.of(len(labelSets))]
	w.changed(at, func(_ *World, pod *core.Pod) { pod.Labels = labels })
}

// garble makes a fact of a pod unreadable for a while.
func (w *World) garble(c *choice) {
	at, what := w.slot(c), core.Facts(c.of(8))
	s := &w.cluster.slots[at]
	if s.pod == nil || s.pod.Malformed != "" {
		return
	}
	s.before = s.pod
	w.changed(at, func(_ *World, pod *core.Pod) {
		pod.Malformed, pod.Unreadable = "something cannot be read", what
		pod.Agent, pod.RuntimeID = core.AgentMissing, ""
		if what.Has(core.FactIP) {
			pod.IP = netip.Addr{}
		}
	})
	w.clock.after(w.while(time.Second), happening{kind: podHeals, slot: at, uid: s.pod.UID})
}

// heal gives a pod back what it was before it fell ill.
func (w *World) heal(h happening) {
	s := &w.cluster.slots[h.slot]
	if s.before != nil && s.pod != nil && s.pod.UID == h.uid && s.before.UID == h.uid &&
		!s.pod.Terminating {
		w.change(h.slot, s.before)
	}
	s.before = nil
}

func (w *World) changeMood(c *choice) {
	w.cluster.slots[w.slot(c)].agent.mood = mood(c.of(int(moods)))
}

// outage takes all agents down, or up again; nobody is told.
func (w *World) outage(c *choice) {
	to := [...]mood{healthy, hung, broken, slow}[c.of(4)]
	for at := range w.cluster.slots {
		w.cluster.slots[at].agent.mood = to
	}
}

// talkNonsense is what an embedder gets wrong.
func (w *World) talkNonsense(c *choice) {
	kind, at := c.of(11), w.slot(c)
	past := w.cluster.slots[at].past
	switch kind {
	case 0: // the late delete of a predecessor, or an early one of the pod itself
		if len(past) > 0 {
			ref := core.PodRef{Key: slotKeys[at], UID: past[c.of(len(past))]}
			w.step(core.ResourceIndexUpdated{Resource: core.HAProxyPods, Deleted: []core.PodRef{ref}})
		}
	case 1:
		w.step(core.ResourceIndexUpdated{Resource: "services", Upserted: w.list()})
	case 2:
		w.step(core.ResourceSyncComplete{Resource: "services", Pods: w.list()})
	case 3:
		w.step(core.ConfigValidated{AgentPort: 70_000})
	case 4:
		w.step(core.ConfigValidated{AgentPort: 5555, PodSelector: oracle.InvalidSelector})
	case 5:
		w.step(core.CredentialsUpdated{})
	case 6:
		w.step(core.ProbeFinished{Probe: core.ProbeID(c.of(100)), Outcome: versions[0]})
		w.forgetProbes()
	case 7:
		w.step(core.TimerFired{Timer: core.TimerID(c.of(100))})
		w.forgetTimers()
	case 8:
		if pod := w.held(at); pod != nil { // gone and back within one input
			w.step(core.ResourceIndexUpdated{
				Resource: core.HAProxyPods, Upserted: []*core.Pod{nil, pod, {UID: "u"}, pod},
				Deleted: []core.PodRef{{Key: pod.Key}, {Key: pod.Key, UID: pod.UID}},
			})
		}
	case 9: // a list in another order
		list := w.list()
		slices.Reverse(list)
		w.step(core.DriftPreventionTriggered{Pods: list})
	default:
		w.step(nil)
	}
}

// forgetProbes and forgetTimers: what core took for finished needs no further result.
func (w *World) forgetProbes() {
	w.probes = slices.DeleteFunc(w.probes, func(p runningProbe) bool {
		_, outstanding := w.state.Probe(p.id)
		return !outstanding
	})
}

func (w *World) forgetTimers() {
	armed := w.state.Timers()
	w.timers = slices.DeleteFunc(w.timers, func(t core.TimerID) bool {
		return !slices.Contains(armed, t)
	})
}
