package inputlog

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// R36: whatever happens, a log that starts from a snapshot replays to what that part of the whole log
// replays to: the same steps by number, time, input and digest, and the same states.
func TestReplayOfThePartIsThePartOfTheReplay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole, state := newBook(), core.New(core.Config{MaxProbes: 3, MaxRetries: 2})
		var parts []*book
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			if rapid.IntRange(0, 9).Draw(t, "cut") == 0 {
				parts = append(parts, whole.cut(state))
			}
			input := likelyInput(t, state)
			after, effects := core.Reduce(state, input)
			for _, b := range append(parts, whole) {
				b.take(message{isInput: true, at: someTime, input: input})
				b.take(message{effects: effects})
			}
			state = after
		}
		all, digests := replayedWithDigests(t, whole.bytes())
		if uint64(len(all)) != whole.seq || digests != len(all) {
			t.Fatalf("of %d steps, these are in the log: %q", whole.seq, all)
		}
		for _, part := range parts {
			is, digests := replayedWithDigests(t, part.bytes())
			if digests != len(is) {
				t.Fatalf("%d digests of %d steps", digests, len(is))
			}
			for i, was := range all[len(all)-len(is):] {
				if is[i] != was {
					t.Fatalf("a step of the part replays to\n%s\nthat of the whole to\n%s", is[i], was)
				}
			}
		}
	})
}

// book is a recorder without a file.
type book struct{ recorder }

func newBook() *book {
	b := &book{}
	b.file = new(os.File) // only to be there
	b.digester.password = b.encoder.secrets.of
	b.encoder.header(Run{Config: core.Config{MaxProbes: 3, MaxRetries: 2}})
	b.endLine()
	return b
}

// cut begins another book with a snapshot.
func (b *book) cut(state core.State) *book {
	part := newBook()
	part.encoder.secrets = placeholders{maps.Clone(b.encoder.secrets.numbers), b.encoder.secrets.last}
	part.seq = part.encoder.snapshot(b.seq, someTime, state)
	part.endLine()
	return part
}

func (b *book) bytes() []byte {
	b.encoder.closing(someTime, b.seq, b.digest)
	b.endLine()
	return b.buffer
}

// likelyInput is one that the state waits for, more often than not.
func likelyInput(t *rapid.T, state core.State) core.Input {
	pods := podsOf(6)
	var list []*core.Pod
	for i, pod := range pods {
		if rapid.IntRange(0, 4).Draw(t, "there") > 0 {
			list = append(list, podOf(i, rapid.SampledFrom([]string{pod.UID, "u2"}).Draw(t, "uid")))
		}
	}
	switch rapid.IntRange(0, 11).Draw(t, "input") {
	case 0:
		return core.ConfigValidated{AgentPort: rapid.IntRange(5555, 5556).Draw(t, "port")}
	case 1:
		credentials, _ := core.NewCredentials("admin", rapid.SampledFrom(passwords).Draw(t, "password"))
		return core.CredentialsUpdated{Credentials: credentials}
	case 2:
		return core.PodStoreSet{Pods: list, Synced: core.Sync(rapid.IntRange(0, 2).Draw(t, "synced"))}
	case 3:
		return core.ResourceSyncComplete{Resource: core.HAProxyPods, Pods: list}
	case 4:
		return core.DriftPreventionTriggered{Pods: list}
	case 5:
		return core.ResourceIndexUpdated{Resource: core.HAProxyPods, Upserted: list}
	case 6:
		return core.BecameLeader{}
	case 7, 8:
		return core.TimerFired{Timer: rapid.SampledFrom(append(state.Timers(), 0)).Draw(t, "timer")}
	default:
		probes := append(state.Probes(), core.OutstandingProbe{})
		return core.ProbeFinished{
			Probe: rapid.SampledFrom(probes).Draw(t, "probe").Probe,
			Outcome: rapid.SampledFrom([]core.Outcome{
				core.Answer{}, core.Answer{Version: "3.4.3"}, core.Failure{Cause: core.CauseRefused},
			}).Draw(t, "outcome"),
		}
	}
}

// replayed reduces what a log holds, checks the digests, and tells each step with its state.
func replayed(t interface{ Fatalf(string, ...any) }, log []byte) []string {
	told, _ := replayedWithDigests(t, log)
	return told
}

func replayedWithDigests(
	t interface{ Fatalf(string, ...any) }, log []byte,
) (told []string, digests int) {
	entries, err := readFrom(bytes.NewReader(log))
	if err != nil {
		t.Fatalf("%v in\n%s", err, log)
	}
	digest := ""
	state, digester := core.New(core.Config{}), NewDigester()
	for _, entry := range entries {
		switch e := entry.(type) {
		case Started:
			state = core.New(e.Config)
		case Snapshot:
			state = e.State
		case Warning:
			t.Fatalf("%v", e)
		case Step:
			after, effects := core.Reduce(state, e.Input)
			state, e.Line, digest = after, 0, digester.Sum(effects)
			var says encoder
			says.state(state.Snapshot())
			told = append(told, fmt.Sprintf("%s leads to %s under %s", tell([]Entry{e})[0],
				says.json.Bytes(), state.Credentials().Password().Reveal()))
		case Reduced:
			if e.Digest != digest {
				t.Fatalf("seq %d: the digest is %s instead of %s", e.Seq, digest, e.Digest)
			}
			digests++
		}
	}
	return told, digests
}

// A snapshot that contradicts itself, or stands elsewhere than at the beginning, is damage that names
// its line.
func TestWrongSnapshots(t *testing.T) {
	whole := newBook()
	state, _ := core.Reduce(core.New(core.Config{MaxProbes: 3, MaxRetries: 2}), core.ConfigValidated{AgentPort: 5555})
	whole.seq = 41
	part := whole.cut(state)
	part.take(message{isInput: true, at: someTime, input: core.BecameLeader{}})
	part.take(message{})
	log := string(part.bytes())
	if steps := replayed(t, []byte(log)); len(steps) != 1 || !strings.Contains(steps[0], `"seq":42`) {
		t.Fatalf("the steps are %q", steps)
	}
	lines := strings.SplitAfter(log, "\n")
	for name, test := range map[string]struct {
		log  string
		line string
		says string
	}{
		"inconsistent": {
			strings.Replace(log, `"gate_open":false`, `"gate_open":true`, 1), "line 2", "gate: it is open before",
		},
		"twice":         {lines[0] + lines[1] + lines[1] + lines[2], "line 3", "elsewhere"},
		"in the middle": {lines[0] + lines[1] + lines[2] + lines[1], "line 4", "elsewhere"},
		"a field too few": {
			strings.Replace(log, `"sync_seen":false,`, ``, 1), "line 2", "state: it lacks a field it must have: sync_seen",
		},
		"a password": {
			strings.Replace(log, `"credentials":null`, `"credentials":{"username":"a","password":"p"}`, 1),
			"line 2", "no placeholder",
		},
		"going back": {
			lines[0] + lines[1] + lines[2] + restartOf(log) + strings.Replace(lines[1], `"last":41`, `"last":41`, 1),
			"line 5", "its last is 41, which is less than the 42 before",
		},
	} {
		_, err := readFrom(bytes.NewReader(resummed([]byte(test.log))))
		if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), test.line+":") ||
			!strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
