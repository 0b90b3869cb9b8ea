package invariant

import (
	"slices"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// transition is one step under examination.
type transition struct {
	*Monitor
	input      core.Input
	after      core.State
	effects    []core.Effect
	violations []Violation

	// fullPass tells that the step looks at every pod (R7).
	fullPass bool
	// finished is the probe whose place the input frees.
	finished *probe
	// failed tells that it brought its candidate a failure that counts (R24).
	failed bool
	// updated tells that it told another version of an endpoint that is published.
	updated  bool
	firedKey core.PodKey

	// touched are the pods to look at, in order; candidates the identities of those of them that
	// are candidates by their facts.
	touched    []core.PodKey
	candidates map[core.PodKey]core.Identity
	// deleted are the pods that left in this step, even if they came back in it; begun are those
	// whose candidacy begins in it.
	deleted map[core.PodKey]bool
	begun   map[core.PodKey]bool

	terminated  map[core.Identity]bool
	rejected    map[core.PodKey]core.HAProxyPodRejected
	publication *core.HAProxyPodsDiscovered
	replays     int
	started     map[core.TimerID]core.StartTimer
}

// findTouched lists the pods that the step may have changed, and asks anew which are candidates.
func (t *transition) findTouched() {
	t.touchInput()
	t.touchEffects()
	for _, p := range t.probes {
		t.touch(p.identity.Key())
	}
	if t.fullPass {
		t.touchUnsettled()
	}
	if t.thorough {
		t.touchAll()
	}
	slices.SortFunc(t.touched, core.PodKey.Compare)
	t.touched = slices.Compact(t.touched)

	pods := make([]*core.Pod, 0, len(t.touched))
	for _, key := range t.touched {
		if standing, found := t.after.Standing(key); found {
			pods = append(pods, standing.Pod)
		}
	}
	question := core.Discovery{
		Config:      t.config,
		AgentPort:   t.known.config.AgentPort,
		PodSelector: t.known.config.PodSelector,
	}
	candidates, err := question.Candidates(pods, core.Credentials{})
	if err != nil {
		t.violate("I3", "the config in use is invalid: %v", err)
	}
	t.candidates = make(map[core.PodKey]core.Identity, len(candidates))
	for _, candidate := range candidates {
		t.candidates[candidate.Key()] = candidate.Identity
	}
}

func (t *transition) touch(key core.PodKey) { t.touched = append(t.touched, key) }

func (t *transition) touchInput() {
	if t.finished != nil {
		t.touch(t.finished.identity.Key())
	}
	t.touch(t.firedKey)
	in, isIndex := t.input.(core.ResourceIndexUpdated)
	if !isIndex || in.Resource != core.HAProxyPods {
		return
	}
	for _, pod := range in.Upserted {
		if pod != nil {
			t.touch(pod.Key)
		}
	}
	uids := make(map[core.PodKey]string, len(in.Deleted))
	for _, ref := range in.Deleted {
		t.touch(ref.Key)
		uids[ref.Key] = ref.UID
	}
	t.deleted = make(map[core.PodKey]bool, len(uids))
	for key, uid := range uids {
		standing, found := t.before.Standing(key)
		t.deleted[key] = found && standing.Pod.UID == uid
	}
}

func (t *transition) touchEffects() {
	for _, effect := range t.effects {
		switch e := effect.(type) {
		case core.StartProbe:
			t.touch(e.Identity.Key())
		case core.CancelProbe:
			t.touch(t.probes[e.Probe].identity.Key())
		case core.StopTimer:
			t.touch(t.timers[e.Timer])
		case core.Publish:
			t.touchEvent(e.Event)
		}
	}
}

func (t *transition) touchEvent(event core.Event) {
	switch e := event.(type) {
	case core.HAProxyPodTerminated:
		t.touch(e.Key())
	case core.HAProxyPodRejected:
		t.touch(e.Key())
	case core.HAProxyPodsDiscovered:
		t.touched = slices.Concat(t.touched, e.Added, e.Updated, e.Removed)
	}
}

// touchUnsettled adds those whose change shows in no effect: who waits in the queue, and who is
// admitted and not yet published.
func (t *transition) touchUnsettled() {
	for _, state := range []core.State{t.before, t.after} {
		for standing := range state.Unsettled() {
			t.touch(standing.Pod.Key)
		}
		for key := range state.Unpublished() {
			t.touch(key)
		}
	}
}

func (t *transition) touchAll() {
	for _, state := range []core.State{t.before, t.after} {
		for standing := range state.Standings() {
			t.touch(standing.Pod.Key)
		}
	}
	for key := range t.lives {
		t.touch(key)
	}
	if t.published != nil {
		for endpoint := range t.published.fleet.All() {
			t.touch(endpoint.Key())
		}
	}
}

// updateLives ends the candidacies that are over and begins new ones (R11, R12).
func (t *transition) updateLives() {
	for key, gone := range t.deleted {
		if gone {
			delete(t.lives, key)
		}
	}
	t.begun = map[core.PodKey]bool{}
	for _, key := range t.touched {
		identity, isCandidate := t.candidates[key]
		switch lived, found := t.lives[key]; {
		case !isCandidate:
			delete(t.lives, key)
		case !found || lived.identity != identity:
			t.lives[key] = life{identity: identity, resets: t.backoffResets}
			t.begun[key] = true
		}
	}
}

// followEffects brings the books up to date, effect by effect.
func (t *transition) followEffects() {
	t.terminated = map[core.Identity]bool{}
	t.rejected = map[core.PodKey]core.HAProxyPodRejected{}
	t.started = map[core.TimerID]core.StartTimer{}
	for _, effect := range t.effects {
		switch e := effect.(type) {
		case core.CancelProbe:
			t.cancelProbe(e)
		case core.StartProbe:
			t.startProbe(e)
		case core.StartTimer:
			t.startTimer(e)
		case core.StopTimer:
			t.stopTimer(e)
		case core.Publish:
			t.followEvent(e.Event)
		}
	}
}

func (t *transition) followEvent(event core.Event) {
	switch e := event.(type) {
	case core.HAProxyPodRejected:
		t.rejected[e.Key()] = e
	case core.HAProxyPodTerminated:
		t.terminate(e)
	case core.HAProxyPodsDiscovered:
		if e.Replay {
			t.checkReplay(e)
		} else {
			t.discover(e)
		}
	}
}
