package invariant

import (
	"iter"
	"slices"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// subject is a pod that a step may have changed.
type subject struct {
	key core.PodKey
	// is tells where the pod stands after the step, unless it is gone.
	is      core.Standing
	remains bool
	// verdict and identity are those of its facts, asked anew.
	verdict  core.Verdict
	identity core.Identity
	// life is its candidacy after the step, nil if it has none; begun tells that it began in it.
	life  *life
	begun bool
	// deleted tells that the pod has left in this step, even if it came back in it.
	deleted bool

	// told is its endpoint in the last publication.
	told       core.Endpoint
	isTold     bool
	terminated bool
	rejected   *core.HAProxyPodRejected
}

// answered tells whether the agent of an identity has answered in its present candidacy.
func (s *subject) answered(identity core.Identity) bool {
	return s.life != nil && s.life.answered && s.life.identity == identity
}

// was tells where the pod stood before the step.
func (t *transition) was(key core.PodKey) (core.Standing, bool) { return t.before.Standing(key) }

// findSubjects lists the pods that the step may have changed, and judges them anew.
func (t *transition) findSubjects() {
	t.touchInput()
	t.touchEffects()
	if t.fullPass {
		t.touchUnsettled()
	}
	switch {
	case t.partial:
		t.touchChanged()
	case t.whole:
		t.touchAll()
	}
	if len(t.touched) > 1 {
		slices.SortFunc(t.touched, core.PodKey.Compare)
		t.touched = slices.Compact(t.touched)
	}
	t.last.note(t.touched)
	t.subjects = slices.Grow(t.subjects, len(t.touched))[:len(t.touched)]
	for i, key := range t.touched {
		s := &t.subjects[i]
		s.key = key
		s.life = t.lives[key]
		if s.is, s.remains = t.after.Standing(key); s.remains {
			t.judge(s)
		}
		if t.published.told {
			s.told, s.isTold = t.published.fleet.Get(key)
		}
	}
	t.findDeleted()
}

// checkSubjects looks at where each of them stands.
func (t *transition) checkSubjects() {
	for i := range t.subjects {
		s := &t.subjects[i]
		t.checkReport(s)
		if !s.remains || !t.checkVerdict(s) {
			continue
		}
		t.checkWaits(s)
		if s.life != nil {
			t.checkAnsweredAdmitted(s)
			t.checkRetry(s)
			t.checkRemembered(s)
			t.checkHurried(s)
		}
	}
}

// judge asks for the verdict anew, unless nothing has changed by which it was asked before.
func (t *transition) judge(s *subject) {
	if l := s.life; !t.whole && l != nil && l.pod == s.is.Pod && l.epoch == t.known.epoch {
		s.verdict, s.identity = core.Verdict{Kind: core.IsCandidate}, l.identity
		return
	}
	s.verdict, s.identity = t.known.judge.Verdict(s.is.Pod)
}

func (t *transition) touch(key core.PodKey) {
	if last := len(t.touched) - 1; last < 0 || t.touched[last] != key {
		t.touched = append(t.touched, key)
	}
}

func (t *transition) touchInput() {
	if t.finishes {
		t.touch(t.finished.Identity.Key())
	}
	t.touchTimer(t.firedKey)
	if in, isIndex := t.indexUpdated(); isIndex {
		for _, pod := range in.Upserted {
			if pod != nil {
				t.touch(pod.Key)
			}
		}
		for _, ref := range in.Deleted {
			t.touch(ref.Key)
		}
	}
}

func (t *transition) indexUpdated() (core.ResourceIndexUpdated, bool) {
	in, isIndex := t.input.(core.ResourceIndexUpdated)
	return in, isIndex && in.Resource == core.HAProxyPods
}

// touchTimer touches the pod of a timer, if it has one.
func (t *transition) touchTimer(key core.PodKey) {
	if key != (core.PodKey{}) {
		t.touch(key)
	}
}

func (t *transition) touchEffects() {
	for _, effect := range t.effects {
		switch e := effect.(type) {
		case core.StartProbe:
			t.touch(e.Identity.Key())
		case core.CancelProbe:
			if i, found := t.probe(e.Probe); found {
				t.touch(t.probes[i].Identity.Key())
			}
		case core.StopTimer:
			t.touchTimer(t.timers[e.Timer])
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
		for _, list := range [...][]core.PodKey{e.Added, e.Updated, e.Removed} {
			for _, key := range list {
				t.touch(key)
			}
		}
	}
}

// touchUnsettled adds those whose change shows in no effect: who waits for an answer or in the
// queue, and who is admitted and not yet published.
func (t *transition) touchUnsettled() {
	t.touchWaiting(&t.before)
	t.touchWaiting(&t.after)
	for i := range t.probes {
		t.touch(t.probes[i].Identity.Key())
	}
}

func (t *transition) touchWaiting(state *core.State) {
	for standing := range state.Unsettled() {
		t.touch(standing.Pod.Key)
	}
	t.touchKeys(state.Unpublished())
}

// touchAll adds every pod there is. Of those that are gone, the books tell.
func (t *transition) touchAll() {
	for standing := range t.after.Standings() {
		t.touch(standing.Pod.Key)
	}
	for key := range t.lives {
		t.touch(key)
	}
	t.touchQueues()
}

func (t *transition) touchQueues() {
	for _, state := range [...]*core.State{&t.before, &t.after} {
		firsts, retries := state.QueueLen()
		if firsts > 0 {
			t.touchKeys(state.FirstAttempts())
		}
		if retries > 0 {
			t.touchKeys(state.Retries())
		}
	}
}

func (t *transition) touchKeys(keys iter.Seq[core.PodKey]) {
	for key := range keys {
		t.touch(key)
	}
}

// findDeleted: the last entry of a key counts, and only for the incarnation it names (R9).
func (t *transition) findDeleted() {
	in, isIndex := t.indexUpdated()
	if !isIndex {
		return
	}
	for _, ref := range in.Deleted {
		was, found := t.was(ref.Key)
		t.subject(ref.Key).deleted = found && was.Pod.UID == ref.UID
	}
}

// updateLives ends the candidacies that are over and begins new ones (R11, R12).
func (t *transition) updateLives() {
	for i := range t.subjects {
		s := &t.subjects[i]
		isCandidate := s.verdict.Kind == core.IsCandidate
		if s.life != nil && (s.deleted || !isCandidate || s.life.identity != s.identity) {
			s.life.over = true
			s.life = nil
			delete(t.lives, s.key)
		}
		if !isCandidate {
			continue
		}
		if s.life == nil {
			s.life = &life{identity: s.identity, resets: t.backoffResets}
			s.begun = true
			t.lives[s.key] = s.life
		}
		s.life.pod, s.life.epoch = s.is.Pod, t.known.epoch
	}
}
