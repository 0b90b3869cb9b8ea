package core

import (
	"slices"
)

// Full passes (R7) look at every pod: rejected ones are reported again, unadmitted candidates
// probed again without further delay. What is settled costs nothing.

// driftPreventionTriggered believes a list that has not synced in what it holds, not in what it
// lacks.
func (s *step) driftPreventionTriggered(in DriftPreventionTriggered) {
	s.trigger = TriggerDriftPreventionTriggered
	s.takeList(in.Pods, s.store.synced)
	s.pass()
}

func (s *step) pass() { s.runPass(false) }

// passWithFreshBackoff is for inputs after which an agent may well answer at last.
func (s *step) passWithFreshBackoff() { s.runPass(true) }

func (s *step) runPass(resetBackoff bool) {
	if !s.openGate() {
		return
	}
	s.fullPass = true
	for key := range s.unsettled.All() {
		st, _ := s.standings.Get(key)
		if st.verdict.Kind == Rejected {
			s.reportRejected(st)
			continue
		}
		next := *st
		if resetBackoff {
			next.attempts = 0
		}
		// An admitted agent without a version is left to its retry schedule (R10, R13).
		if next.member == nil && next.timer != 0 {
			s.stopRetryTimer(next.timer)
			next.timer = 0
			s.enqueue(&next)
		}
		if next != *st {
			s.setStanding(&next)
		}
	}
}

// judgeAll judges every pod anew, for a changed configuration.
func (s *step) judgeAll() {
	for st := range s.standings.All() {
		s.judge(st, st.pod)
	}
}

// takeList takes in a complete read of the store. Pods that are absent from it are gone, if absence
// counts; then an empty list is as real as any other (R20). Both sides are ordered by key and
// walked side by side: an unchanged pod costs a comparison and no allocation.
func (s *step) takeList(pods []*Pod, absenceCounts bool) {
	pods = s.ordered(pods)
	for st := range s.standings.All() {
		for len(pods) > 0 && pods[0].Key.Compare(st.pod.Key) < 0 {
			s.judge(nil, pods[0])
			pods = pods[1:]
		}
		switch {
		case len(pods) > 0 && pods[0].Key == st.pod.Key:
			if !pods[0].Equal(st.pod) {
				s.judge(st, pods[0])
			}
			pods = pods[1:]
		case absenceCounts:
			s.forget(st)
		}
	}
	for _, pod := range pods {
		s.judge(nil, pod)
	}
}

// ordered gives the pods of a list in the order of their keys, each key once: the last one counts.
// A list that is in order already, as the shell's are, is returned as it is.
func (s *step) ordered(pods []*Pod) []*Pod {
	if inOrder(pods) {
		return pods
	}
	byKey := make([]*Pod, 0, len(pods))
	for _, pod := range pods {
		switch {
		case isPod(pod):
			byKey = append(byKey, pod)
		case pod != nil && pod.Key.tooLong() != "":
			s.refuse("a pod with %s", pod.Key.tooLong())
		default:
			s.refuse("a pod without name or UID")
		}
	}
	return lastOfEachKey(byKey, func(pod *Pod) PodKey { return pod.Key })
}

func inOrder(pods []*Pod) bool {
	for i, pod := range pods {
		if !isPod(pod) || i > 0 && pods[i-1].Key.Compare(pod.Key) >= 0 {
			return false
		}
	}
	return true
}

// isPod: what has no name, no UID or too long a name is no pod (R3).
func isPod(pod *Pod) bool {
	return pod != nil && pod.Key.Name != "" && pod.UID != "" && pod.Key.tooLong() == ""
}

// lastOfEachKey sorts by key and keeps the last of equal ones.
func lastOfEachKey[T any](list []T, keyOf func(T) PodKey) []T {
	slices.Reverse(list)
	slices.SortStableFunc(list, func(a, b T) int { return keyOf(a).Compare(keyOf(b)) })
	return slices.CompactFunc(list, func(a, b T) bool { return keyOf(a) == keyOf(b) })
}
