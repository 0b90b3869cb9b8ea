// Package projection says what people are told of discovery: of each pod its status, why, since
// when and until when; of a step whether it was a full pass and which pods it has touched; of the
// gate what it lacks. Page, metrics and replays read it and derive nothing themselves, so that all
// of them use one vocabulary.
//
// A Projection is folded over the steps of a run. It has no clock: times come with the steps. Like
// a State it is an immutable value; a step costs what it touches.
package projection

import (
	"iter"
	"slices"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/core/internal/persistent"
)

// Projection is what is known after the newest step. The zero value is before the first.
type Projection struct {
	// State is the state after the step.
	State core.State
	// Touched are the pods that the newest step has touched.
	Touched []core.PodKey
	// StoreSeen is when a store that has synced was read completely the last time; zero for never.
	StoreSeen time.Time

	pods   persistent.Map[*Pod]
	counts []Count
}

// Count is how many pods have the same status, reason and cause.
type Count struct {
	Status Status
	Reason core.Reason
	Cause  core.Cause
	Pods   int
}

// Of begins with a state whose past is not known, such as one restored from a snapshot: what its
// pods are holds since that time.
func Of(state core.State, at time.Time) Projection {
	p := Projection{}
	pods := core.Step{After: state}
	pods.Input = core.DriftPreventionTriggered{} // may concern every pod
	p = p.With(pods, at)
	p.StoreSeen = time.Time{}
	return p
}

// With gives the projection after one more step, which was taken at a time.
func (p Projection) With(step core.Step, at time.Time) Projection {
	p.State, p.Touched = step.After, Touched(step)
	switch step.Input.(type) {
	case core.PodStoreSet, core.ResourceSyncComplete, core.DriftPreventionTriggered:
		if step.After.StoreSet() && step.After.StoreSynced() {
			p.StoreSeen = at
		}
	}
	if len(p.Touched) == 0 {
		return p
	}
	p.counts = slices.Clone(p.counts)
	for _, key := range p.Touched {
		p.touch(key, step, at)
	}
	p.counts = slices.DeleteFunc(p.counts, func(c Count) bool { return c.Pods == 0 })
	return p
}

// touch owns p.counts.
func (p *Projection) touch(key core.PodKey, step core.Step, at time.Time) {
	was, wasKnown := p.pods.Get(key.Namespace, key.Name)
	if !wasKnown {
		was = &Pod{}
	} else {
		p.count(was, -1)
	}
	standing, found := step.After.Standing(key)
	if !found {
		p.pods = p.pods.Delete(key.Namespace, key.Name)
		return
	}
	is := podAfter(standing, *was, step, at)
	p.count(&is, 1)
	p.pods = p.pods.Set(key.Namespace, key.Name, &is)
}

func (p *Projection) count(pod *Pod, by int) {
	for i, c := range p.counts {
		if c.Status == pod.Status && c.Reason == pod.Reason && c.Cause == pod.Cause {
			p.counts[i].Pods += by
			return
		}
	}
	p.counts = append(p.counts, Count{pod.Status, pod.Reason, pod.Cause, by})
}

// Pod is what is told of a pod; false for one that is not known.
func (p Projection) Pod(key core.PodKey) (Pod, bool) {
	pod, found := p.pods.Get(key.Namespace, key.Name)
	if !found {
		return Pod{}, false
	}
	return *pod, true
}

// Pods iterates over all pods in the order of their keys.
func (p Projection) Pods() iter.Seq2[core.Standing, Pod] {
	return func(yield func(core.Standing, Pod) bool) {
		for standing := range p.State.Standings() {
			pod, _ := p.Pod(standing.Pod.Key)
			if !yield(standing, pod) {
				return
			}
		}
	}
}

// Counts iterates over the counts that are not zero, in no particular order.
func (p Projection) Counts() iter.Seq[Count] { return slices.Values(p.counts) }

// Count is the number of pods with a status.
func (p Projection) Count(status Status) int {
	pods := 0
	for _, c := range p.counts {
		if c.Status == status {
			pods += c.Pods
		}
	}
	return pods
}

// OldestUnadmitted is since when the candidate that has waited longest for its agent's first answer
// has done so; zero if there is none. It walks over the unsettled pods.
func (p Projection) OldestUnadmitted() time.Time {
	oldest := time.Time{}
	for standing := range p.State.Unsettled() {
		pod, _ := p.Pod(standing.Pod.Key)
		since := pod.UnadmittedSince
		if !since.IsZero() && (oldest.IsZero() || since.Before(oldest)) {
			oldest = since
		}
	}
	return oldest
}
