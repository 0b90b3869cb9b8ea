package world

import (
	"slices"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/fuzz/story"
)

// agent is what answers at a pod's address.
type agent struct {
	mood mood
	// version is what it knows from knowsFrom on.
	version   core.Answer
	knowsFrom time.Duration
	// listensFrom is when its port opens.
	listensFrom time.Duration
	// accepts holds a bit for each of the cast of credentials.
	accepts uint8
	asked   int
}

// mood is how an agent takes being asked.
type mood uint8

const (
	healthy mood = iota
	slow
	hung
	flapping
	broken
	moods
)

// flaps are the moods that a flapping agent goes through.
var flaps = [...]mood{healthy, hung, broken}

// everybody accepts whomever the cast holds.
const everybody = 1<<3 - 1

func (w *World) newAgent() agent {
	a := agent{version: versions[w.noise.below(len(versions))], accepts: everybody}
	if w.has(lateAgents) {
		a.accepts = 1 << w.credentials
	}
	if w.has(badMoods) && w.noise.below(2) == 1 {
		a.mood = mood(w.noise.below(int(moods)))
	}
	if w.has(unknownVersions) && w.noise.below(2) == 1 {
		a.knowsFrom = w.clock.now + w.while(3*time.Second)
	}
	return a
}

// runningProbe is a probe on its way.
type runningProbe struct {
	id      core.ProbeID
	outcome core.Outcome
	slot    int
	uid     string
	runtime core.RuntimeID
	// cut tells that it was cancelled, and that its runner heeds it.
	cut bool
}

// ask sends a probe off. Whoever has the address now answers; the result is decided at once and
// comes at its time.
func (w *World) ask(e core.StartProbe) {
	p := runningProbe{id: e.Probe, slot: w.whoHas(addressOf[e.Identity.URL])}
	takes := w.while(4 * time.Millisecond)
	if p.slot < 0 {
		p.outcome = core.Failure{Cause: core.CauseRefused}
	} else {
		s := &w.cluster.slots[p.slot]
		p.uid, p.runtime = s.pod.UID, s.pod.RuntimeID
		p.outcome, takes = w.reply(&s.agent, e, takes)
	}
	if takes >= e.Timeout {
		p.outcome, takes = core.Failure{Cause: core.CauseTimeout}, e.Timeout
	}
	w.probes = append(w.probes, p)
	w.clock.after(takes, happening{kind: probeEnds, id: uint64(e.Probe)})
}

func (w *World) reply(
	a *agent, e core.StartProbe, takes time.Duration,
) (core.Outcome, time.Duration) {
	a.asked++
	is := a.mood
	if is == flapping {
		is = flaps[a.asked%len(flaps)]
	}
	answer := a.version
	if w.clock.now < a.knowsFrom {
		answer = core.Answer{}
	}
	switch {
	case w.clock.now < a.listensFrom:
		return core.Failure{Cause: core.CauseRefused}, takes
	case is == hung:
		return nil, time.Hour
	case a.accepts&(1<<slices.Index(story.Credentials, e.Credentials)) == 0:
		return core.Failure{Cause: core.CauseUnauthorized}, takes
	case is == broken:
		return core.Failure{Cause: w.brokenCause()}, takes
	case is == slow:
		return answer, w.while(800 * time.Millisecond)
	default:
		return answer, takes
	}
}

var brokenCauses = [...]core.Cause{
	core.CauseInvalidDocument, core.CauseUnexpectedStatus, core.CauseTLS, core.CauseTooLarge,
	core.CauseTruncated, core.CauseUnsupportedAPIVersion, core.CauseOther,
}

func (w *World) brokenCause() core.Cause { return brokenCauses[w.noise.below(len(brokenCauses))] }

// probeEnded hands a result in, unless it was in before. A pod that is gone by then has cut its
// answer off.
func (w *World) probeEnded(id core.ProbeID) {
	at := slices.IndexFunc(w.probes, func(p runningProbe) bool { return p.id == id })
	if at < 0 {
		return
	}
	p := w.probes[at]
	w.probes = slices.Delete(w.probes, at, at+1)
	if p.slot >= 0 {
		pod := w.cluster.slots[p.slot].pod
		if pod == nil || pod.UID != p.uid || pod.RuntimeID != p.runtime {
			p.outcome = core.Failure{Cause: core.CauseTruncated}
		}
	}
	if p.cut {
		p.outcome = core.Failure{Cause: core.CauseOther, Detail: "cancelled"}
	}
	w.step(core.ProbeFinished{Probe: id, Outcome: p.outcome})
}

// cancel ends a probe soon; a runner that is late with it hands in what the agent answers.
func (w *World) cancel(id core.ProbeID) {
	if w.has(lateAnswers) && w.noise.below(2) == 0 {
		return
	}
	for i := range w.probes {
		if w.probes[i].id == id {
			w.probes[i].cut = true
			w.clock.after(w.while(time.Millisecond), happening{kind: probeEnds, id: uint64(id)})
		}
	}
}
