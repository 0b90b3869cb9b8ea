package explore

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// always is an input that can happen in every state, whether it makes sense there or not.
func always(name string, input core.Input) Move {
	return Move{Name: name, In: func(core.State) (core.Input, bool) { return input, true }}
}

func configured(port int, selector string) Move {
	return always(fmt.Sprintf("config: port %d, selector %q", port, selector),
		core.ConfigValidated{AgentPort: port, PodSelector: selector})
}

func rotated(name string, credentials core.Credentials) Move {
	return always("credentials "+name, core.CredentialsUpdated{Credentials: credentials})
}

// rotatedTo changes the credentials from one to the other.
func rotatedTo(one, other core.Credentials) Move {
	return Move{Name: "credentials rotated", In: func(state core.State) (core.Input, bool) {
		if state.Credentials() == one {
			return core.CredentialsUpdated{Credentials: other}, true
		}
		return core.CredentialsUpdated{Credentials: one}, true
	}}
}

func becameLeader() Move { return always("became leader", core.BecameLeader{}) }

// Pods change.

func upserted(name string, pods ...*core.Pod) Move {
	return always("upserted "+name,
		core.ResourceIndexUpdated{Resource: core.HAProxyPods, Upserted: pods})
}

// becomes tells of a pod unless that is what is known of it already: what a store that tells of no
// heartbeats would say.
func becomes(name string, pod *core.Pod) Move {
	return Move{Name: name, In: func(state core.State) (core.Input, bool) {
		standing, found := state.Standing(pod.Key)
		input := core.ResourceIndexUpdated{
			Resource: core.HAProxyPods, Upserted: []*core.Pod{pod},
		}
		return input, !found || !standing.Pod.Equal(pod)
	}}
}

// deleted is the deletion of whatever incarnation is known.
func deleted(key core.PodKey) Move {
	return Move{Name: "deleted " + key.Name, In: func(state core.State) (core.Input, bool) {
		standing, found := state.Standing(key)
		if !found {
			return nil, false
		}
		return core.ResourceIndexUpdated{
			Resource: core.HAProxyPods,
			Deleted:  []core.PodRef{{Key: key, UID: standing.Pod.UID}},
		}, true
	}}
}

// replaced is the deletion of whatever incarnation is known, with a successor in the same input.
func replaced(name string, successor *core.Pod) Move {
	return Move{Name: "replaced by " + name, In: func(state core.State) (core.Input, bool) {
		standing, found := state.Standing(successor.Key)
		if !found {
			return nil, false
		}
		return core.ResourceIndexUpdated{
			Resource: core.HAProxyPods,
			Upserted: []*core.Pod{successor},
			Deleted:  []core.PodRef{{Key: successor.Key, UID: standing.Pod.UID}},
		}, true
	}}
}

// replacedByNext is replaced by an incarnation that can be replaced itself.
func replacedByNext(key core.PodKey) Move { return replaced(key.Name+" u2", pod(key.Name, "u2")) }

// deletedLate is the deletion of an incarnation that may be long gone.
func deletedLate(pod *core.Pod) Move {
	return always(fmt.Sprintf("deleted %s %s", pod.Key.Name, pod.UID), core.ResourceIndexUpdated{
		Resource: core.HAProxyPods,
		Deleted:  []core.PodRef{{Key: pod.Key, UID: pod.UID}},
	})
}

// listing is a complete read of the store, made from what the state knows of it.
type listing struct {
	name string
	read func(state core.State) []*core.Pod
}

func everything() listing { return listing{"all", known} }

func nothing() listing {
	return listing{"nothing", func(core.State) []*core.Pod { return nil }}
}

// without is a read that lacks a pod: its deletion was missed.
func without(key core.PodKey) listing {
	return listing{"all but " + key.Name, func(state core.State) []*core.Pod {
		return slices.DeleteFunc(known(state), func(pod *core.Pod) bool { return pod.Key == key })
	}}
}

// with is a read that holds a pod in a variant that nobody has told of.
func with(name string, variant *core.Pod) listing {
	return listing{"all with " + name, func(state core.State) []*core.Pod {
		pods := slices.DeleteFunc(known(state),
			func(pod *core.Pod) bool { return pod.Key == variant.Key })
		pods = append(pods, variant)
		slices.SortFunc(pods, func(a, b *core.Pod) int { return a.Key.Compare(b.Key) })
		return pods
	}}
}

func known(state core.State) []*core.Pod {
	pods := make([]*core.Pod, 0, state.Len()+1)
	for standing := range state.Standings() {
		pods = append(pods, standing.Pod)
	}
	return pods
}

func drift(list listing) Move {
	return Move{Name: "drift: " + list.name, In: func(state core.State) (core.Input, bool) {
		return core.DriftPreventionTriggered{Pods: list.read(state)}, true
	}}
}

func synced(list listing) Move {
	return Move{Name: "sync: " + list.name, In: func(state core.State) (core.Input, bool) {
		return core.ResourceSyncComplete{Resource: core.HAProxyPods, Pods: list.read(state)}, true
	}}
}

func store(list listing, sync core.Sync) Move {
	name := [...]string{"that cannot say", "synced", "not synced"}[sync]
	return Move{Name: "store " + name + ": " + list.name, In: func(state core.State) (core.Input, bool) {
		return core.PodStoreSet{Pods: list.read(state), Synced: sync}, true
	}}
}

// Probes finish.

var (
	answer    = core.Answer{Version: "3.4.3"}
	noVersion = core.Answer{}
	refused   = core.Failure{Cause: core.CauseRefused}
)

// finished is the end of the probe in flight of a pod.
func finished(key core.PodKey, name string, outcome core.Outcome) Move {
	return Move{
		Name:  "probe of " + key.Name + ": " + name,
		Quiet: outcome == core.Outcome(answer),
		In: func(state core.State) (core.Input, bool) {
			standing, _ := state.Standing(key)
			if standing.Probe == 0 {
				return nil, false
			}
			return core.ProbeFinished{Probe: standing.Probe, Outcome: outcome}, true
		},
	}
}

func answers(key core.PodKey) Move       { return finished(key, "answer", answer) }
func answersUnsure(key core.PodKey) Move { return finished(key, "no version", noVersion) }
func doesNotAnswer(key core.PodKey) Move { return finished(key, "refused", refused) }

// late is the result of a cancelled probe. Which one of several is told by its turn, from 0, in an
// order that does not depend on their numbers.
func late(turn int, name string, outcome core.Outcome) Move {
	return Move{
		Name:  fmt.Sprintf("cancelled probe %d: %s", turn, name),
		Quiet: outcome == core.Outcome(answer),
		In: func(state core.State) (core.Input, bool) {
			probes := slices.DeleteFunc(state.Probes(),
				func(probe core.OutstandingProbe) bool { return !probe.Cancelled })
			if turn >= len(probes) {
				return nil, false
			}
			slices.SortFunc(probes, compareProbes)
			return core.ProbeFinished{Probe: probes[turn].Probe, Outcome: outcome}, true
		},
	}
}

func lateAnswer(turn int) Move  { return late(turn, "answer", answer) }
func lateFailure(turn int) Move { return late(turn, "refused", refused) }

// compareProbes orders probes by everything but their numbers. Those it calls equal are equal in
// everything that a digest tells of probes.
func compareProbes(a, b core.OutstandingProbe) int {
	return cmp.Or(
		compareBools(a.Cancelled, b.Cancelled),
		compareBools(a.Retry, b.Retry),
		a.Identity.Key().Compare(b.Identity.Key()),
		cmp.Compare(a.Identity.UID, b.Identity.UID),
		cmp.Compare(a.Identity.RuntimeID, b.Identity.RuntimeID),
		cmp.Compare(a.Identity.URL, b.Identity.URL),
		cmp.Compare(a.Credentials.Username(), b.Credentials.Username()),
	)
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	default:
		return 1
	}
}

// Timers fire.

func retryTimerOf(key core.PodKey) Move {
	return Move{Name: "retry timer of " + key.Name, Quiet: true,
		In: func(state core.State) (core.Input, bool) {
			standing, _ := state.Standing(key)
			return fired(standing.RetryTimer)
		}}
}

func publishTimer() Move {
	return Move{Name: "publish timer", Quiet: true,
		In: func(state core.State) (core.Input, bool) { return fired(state.PublishTimer()) }}
}

func firstPublishTimer() Move {
	return Move{Name: "first publish timer", Quiet: true,
		In: func(state core.State) (core.Input, bool) { return fired(state.FirstPublishTimer()) }}
}

func fired(timer core.TimerID) (core.Input, bool) {
	return core.TimerFired{Timer: timer}, timer != 0
}
