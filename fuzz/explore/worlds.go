package explore

import (
	"slices"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// caps are small enough to be reached, and leave a place for new pods beside retries.
var caps = core.Config{MaxProbes: 2, MaxRetries: 1}

// smallWorlds are the worlds in which states with the same digest are compared with each other.
func smallWorlds() []World { return []World{pair(), opening()} }

// allWorlds are all, the largest last. Each stresses something else; together they
// show every kind of input, effect and event.
func allWorlds() []World {
	return append(smallWorlds(), lifecycle(), gate(), stores(), mixture(), publication(),
		incarnations(), queue(), versions(), fleet())
}

// named are the keys of pods with names of one letter.
func named(letters string) []core.PodKey {
	var keys []core.PodKey
	for _, letter := range letters {
		keys = append(keys, keyOf(string(letter)))
	}
	return keys
}

// of makes each kind of move for each pod.
func of(letters string, kinds ...func(core.PodKey) Move) []Move {
	var moves []Move
	for _, kind := range kinds {
		for _, key := range named(letters) {
			moves = append(moves, kind(key))
		}
	}
	return moves
}

// appear are the moves that bring pods, in these incarnations.
func appear(letters string, uids ...string) []Move {
	var moves []Move
	for _, letter := range letters {
		for _, uid := range uids {
			name := string(letter)
			moves = append(moves, becomes(name+" "+uid, pod(name, uid)))
		}
	}
	return moves
}

// agents are the moves of the agents of pods, and of the timers.
func agents(letters string) []Move {
	return slices.Concat(
		of(letters, answers, doesNotAnswer, retryTimerOf),
		[]Move{lateAnswer(0), lateAnswer(1), publishTimer(), firstPublishTimer()},
	)
}

func rotation() Move { return rotatedTo(credentials("admin"), credentials("other")) }

func pair() World {
	return World{
		Name: "pair", Emphasis: "two pods; agents that are not sure, fail, or hear of new credentials",
		Config: caps, Start: opened(), MaxStates: 10_000,
		Moves: slices.Concat(
			appear("ab", "u1"), of("ab", deleted, answersUnsure), agents("ab"),
			[]Move{rotation(), drift(everything())},
		),
	}
}

func opening() World {
	return World{
		Name: "opening", Emphasis: "one pod, and stores that are swapped before and after their sync",
		Config: caps, MaxStates: 10_000,
		Moves: slices.Concat(
			appear("a", "u1"), of("a", deleted), agents("a"),
			[]Move{
				configured(port, selector), configured(otherPort, selector),
				rotated("admin", credentials("admin")),
				store(nothing(), core.SyncPending), store(nothing(), core.SyncUnknown),
				synced(everything()), synced(nothing()),
				becameLeader(),
			},
		),
	}
}

// lifecycle shows the verdicts, the causes of rejections and terminations, and that facts which do
// not matter lead to nothing.
func lifecycle() World {
	return World{
		Name: "lifecycle", Emphasis: "one pod, and all that can become of it",
		Config: caps, Start: opened(), MaxStates: 200_000,
		Moves: slices.Concat(
			[]Move{
				upserted("a u1", pod("a", "u1")),
				upserted("a u2", pod("a", "u2")),
				upserted("a restarted", pod("a", "u1", restarted)),
				upserted("a moved", pod("a", "u1", moved)),
				upserted("a relabelled", pod("a", "u1", relabelled)),
				upserted("a terminating", pod("a", "u1", terminating)),
				upserted("a pending", pod("a", "u1", pending)),
				upserted("a without IP", pod("a", "u1", withoutIP)),
				upserted("a deselected", pod("a", "u1", deselected)),
				upserted("a malformed", pod("a", "u1", malformed)),
				upserted("a u2 malformed", pod("a", "u2", malformed)),
				upserted("a waiting", pod("a", "u1", agentIs(core.AgentWaiting))),
				upserted("a terminated", pod("a", "u1", agentIs(core.AgentTerminated))),
				upserted("a missing", pod("a", "u1", agentIs(core.AgentMissing))),
				deletedLate(pod("a", "u2")), replaced("a u2", pod("a", "u2")),
				replaced("a u1", pod("a", "u1")),
				configured(port, selector), configured(otherPort, selector),
				rotation(), drift(everything()), drift(nothing()), lateFailure(0),
			},
			of("a", deleted, answersUnsure), agents("a"),
		),
	}
}

// gate has everything that the gate waits for come in any order, and inputs that make no sense.
func gate() World {
	return World{
		Name: "gate", Emphasis: "the gate, whatever opens it; nonsense",
		Config: caps, MaxStates: 500_000,
		Moves: slices.Concat(
			appear("ab", "u1"), of("ab", deleted), agents("ab"),
			[]Move{
				upserted("a deselected", pod("a", "u1", deselected)),
				configured(port, selector), configured(port, ""),
				rotated("admin", credentials("admin")), rotated("other", credentials("other")),
				store(everything(), core.SyncDone), store(nothing(), core.SyncPending),
				store(without(keyOf("b")), core.SyncUnknown),
				synced(everything()), synced(nothing()), becameLeader(), drift(everything()),
				always("no input", nil), configured(0, selector), configured(port, "app=="),
				rotated("none", core.Credentials{}),
				always("another resource", core.ResourceIndexUpdated{Resource: "services"}),
				always("another sync", core.ResourceSyncComplete{Resource: "services"}),
				always("no probe", core.ProbeFinished{Outcome: answer}),
				upserted("no pod", nil, &core.Pod{Key: keyOf("a")}),
			},
		),
	}
}

// stores has pods come and go in lists: what nobody has told of, and what a store that has not
// synced cannot tell.
func stores() World {
	keyA, keyB := keyOf("a"), keyOf("b")
	return World{
		Name: "stores", Emphasis: "two pods in lists of stores; deletions that nobody tells of",
		Config: caps, Start: opened(), MaxStates: 500_000,
		Moves: slices.Concat(
			appear("ab", "u1", "u2"), of("ab", deleted, replacedByNext), agents("ab"),
			[]Move{
				drift(everything()), drift(without(keyA)), drift(without(keyB)), drift(nothing()),
				drift(with("a u2", pod("a", "u2"))), drift(with("b terminating", pod("b", "u1", terminating))),
				store(without(keyA), core.SyncPending), store(everything(), core.SyncUnknown),
				synced(without(keyB)),
			},
		),
	}
}

// mixture is the world of the ordinary tests: some of everything.
func mixture() World {
	return World{
		Name: "mixture", Emphasis: "three pods, of everything something",
		Config: caps, Start: opened(pod("a", "u1")), MaxStates: 500_000,
		Moves: slices.Concat(
			appear("a", "u1", "u2"), appear("bc", "u1"), of("abc", deleted), of("a", answersUnsure),
			agents("abc"), []Move{
				becomes("c terminating", pod("c", "u1", terminating)), rotation(), drift(everything()),
			},
		),
	}
}

// publication has admissions wait for each other, be overtaken by updates, and told again.
func publication() World {
	return World{
		Name: "publication", Emphasis: "three pods from a cold start; versions that come late; leaders",
		Config: caps, Start: opened()[:2], MaxStates: 1_000_000,
		Moves: slices.Concat(
			appear("abc", "u1"), of("abc", deleted, answersUnsure), agents("abc"),
			[]Move{
				store(everything(), core.SyncDone), becameLeader(), rotation(), drift(everything()),
			},
		),
	}
}

func incarnations() World {
	return World{
		Name: "incarnations", Emphasis: "three pods, three incarnations each",
		Config: caps, Start: opened(), MaxStates: 1_000_000,
		Moves: slices.Concat(
			appear("abc", "u1", "u2", "u3"), of("abc", deleted), agents("abc"),
			[]Move{drift(everything())},
		),
	}
}

func versions() World {
	return World{
		Name: "versions", Emphasis: "four pods whose versions come late, under changing credentials",
		Config: caps, Start: opened(), MaxStates: 6_000_000,
		Moves: slices.Concat(
			appear("ab", "u1", "u2"), appear("cd", "u1"), of("abcd", deleted, answersUnsure), agents("abcd"),
			[]Move{rotation(), drift(everything())},
		),
	}
}

func fleet() World {
	return World{
		Name: "fleet", Emphasis: "four pods, two incarnations each, under changing credentials",
		Config: caps, Start: opened(), MaxStates: 8_000_000,
		Moves: slices.Concat(
			appear("abcd", "u1", "u2"), of("abcd", deleted), agents("abcd"),
			[]Move{rotation(), drift(everything())},
		),
	}
}

func queue() World {
	return World{
		Name: "queue", Emphasis: "five pods for two places",
		Config: caps, Start: opened(), MaxStates: 8_000_000,
		Moves: slices.Concat(
			appear("abcde", "u1"), of("abcde", deleted), agents("abcde"),
			[]Move{drift(everything())},
		),
	}
}
