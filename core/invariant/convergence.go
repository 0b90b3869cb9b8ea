package invariant

import (
	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// I10, convergence. Once inputs cease and every agent answers with a version, all that still comes
// are answers and timers: the quiet suffix of a history. That it ends is shown by a number that
// every one of its steps makes smaller, in whatever order they come; that it ends well, by a look
// at the state in which nothing more can come.

// stepsToRest bounds the steps of the quiet suffix: 0 exactly if nothing is outstanding, armed or
// queued.
//
// A retry timer may become a place in the queue, that a probe in flight, and its answer an
// admission that waits for the PublishDelay timer: each is worth one step more than what it may
// turn into.
func stepsToRest(state core.State) int {
	firsts, retries := state.QueueLen()
	steps := 4*state.RetryTimersLen() + 3*(firsts+retries) + 2*state.OutstandingLen()
	if state.PublishTimer() != 0 {
		steps++
	}
	if state.FirstPublishTimer() != 0 {
		steps++
	}
	return steps
}

// quietInput is the next input of a fair quiet suffix: the oldest outstanding probe is answered
// with a version; once there is none, the oldest armed timer fires. False at rest.
func quietInput(state core.State) (core.Input, bool) {
	for p := range state.Outstanding() {
		return core.ProbeFinished{Probe: p.Probe, Outcome: core.Answer{Version: "3.4.3"}}, true
	}
	oldest := core.TimerID(0)
	for id := range state.RetryTimers() {
		oldest = id
		break
	}
	for _, id := range [...]core.TimerID{state.PublishTimer(), state.FirstPublishTimer()} {
		if id != 0 && (oldest == 0 || id < oldest) {
			oldest = id
		}
	}
	return core.TimerFired{Timer: oldest}, oldest != 0
}

// AtRest tells what is wrong with a state in which nothing more can come: every candidate is
// admitted with a version and published, and no one else; nothing is outstanding, armed or queued.
// Before the gate opens, nothing is all that there is.
func AtRest(state core.State) []Violation {
	var f findings
	if steps := stepsToRest(state); steps > 0 {
		f.violate("I10", "not at rest: %d probes, %d timers, %d steps to go",
			state.OutstandingLen(), timersOf(state), steps)
	}
	published, _, _ := state.Published()
	candidates := 0
	var known knowledge
	known.believe(state)
	for standing := range state.Standings() {
		verdict, identity := known.judge.Verdict(standing.Pod)
		if verdict.Kind != core.IsCandidate || !known.gateOpen {
			continue
		}
		candidates++
		endpoint, found := published.Get(standing.Pod.Key)
		switch {
		case !found || endpoint.Identity != identity:
			f.violate("I10", "not published at rest: %s", naming(identity))
		case !endpoint.Version.Known():
			f.violate("I10", "published at rest without a version: %s", naming(identity))
		case endpoint.Credentials != known.credentials:
			f.violate("I10", "published at rest with old credentials: %s", naming(identity))
		}
	}
	f.checkComplete(state, candidates)
	return f.violations
}

// checkComplete: at rest, as many are admitted and published as there are candidates.
func (f *findings) checkComplete(state core.State, candidates int) {
	published, _, _ := state.Published()
	if admitted := state.Admitted(); admitted.Len() != candidates || published.Len() != candidates {
		f.violate("I10", "%d candidates, but %d admitted and %d published at rest",
			candidates, admitted.Len(), published.Len())
	}
}

// Converge drives a state through its quiet suffix with the given reducer: core.Reduce, or one that
// looks at each step. It tells what is wrong at the end, or with the step that has brought it no
// nearer to rest.
func Converge(
	state core.State, reduce func(core.State, core.Input) (core.State, []core.Effect),
) []Violation {
	for {
		input, more := quietInput(state)
		if !more {
			return AtRest(state)
		}
		next, _ := reduce(state, input)
		var f findings
		if f.checkNearer(input, state, next); f.violations != nil {
			return f.violations
		}
		state = next
	}
}

func (f *findings) checkNearer(input core.Input, before, after core.State) {
	if was, is := stepsToRest(before), stepsToRest(after); is >= was {
		f.violate("I10", "%T brings rest no nearer: %d steps before it, %d after it", input, was, is)
	}
}

// checkProgress: an answer with a version and a timer that fires bring rest nearer, and who has
// nothing to wait for has a complete fleet.
func (t *transition) checkProgress() {
	if t.fired || t.finishes && t.answersFinally() {
		t.checkNearer(t.input, t.before, t.after)
	}
	if stepsToRest(t.after) == 0 {
		t.checkComplete(t.after, len(t.lives))
	}
}

// answersFinally tells whether the input is an answer with a version.
func (t *transition) answersFinally() bool {
	finished, _ := t.input.(core.ProbeFinished)
	answer, isAnswer := finished.Outcome.(core.Answer)
	return isAnswer && answer.Version+answer.FullVersion != ""
}
