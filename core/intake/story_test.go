package intake_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/core/intake"
)

// The rules as stories: each file of testdata is one. `set`, `named`, `sync`, `drift` and `retry`
// are asks; `turn` lets the intake look at a store that holds the pods below it, with the real
// reducer behind. What stands below ---- is what it does, one action a line. `go test ./core/intake
// -rewrite` writes them anew, for a diff to be reviewed.
func TestStories(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no stories: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			s := &story{state: core.New(core.Config{})}
			datadriven.RunTest(t, path, s.run)
		})
	}
}

type story struct {
	intake intake.Intake
	state  core.State
}

func (s *story) run(t *testing.T, command *datadriven.TestData) string {
	if command.Cmd == "turn" {
		lines := s.turn(t, command)
		if s.intake.Due() {
			lines = append(lines, "another turn is due")
		}
		return strings.Join(append(lines, s.known()), "\n")
	}
	words := []string{command.Cmd}
	for _, arg := range command.CmdArgs {
		words = append(words, arg.Key)
	}
	s.take(t, askOf(t, words))
	if s.intake.Due() {
		return "due"
	}
	return "not due"
}

// take proves besides that the intake before is as it was (its print shows every field).
func (s *story) take(t *testing.T, ask intake.Ask) {
	t.Helper()
	before, said := s.intake, fmt.Sprintf("%+v", s.intake)
	s.intake = s.intake.Take(ask)
	if diff := cmp.Diff(said, fmt.Sprintf("%+v", before)); diff != "" {
		t.Fatalf("%T changed the old intake:\n%s", ask, diff)
	}
}

func askOf(t *testing.T, words []string) intake.Ask {
	t.Helper()
	switch words[0] {
	case "set":
		return intake.StoreSet{}
	case "sync":
		return intake.SyncComplete{}
	case "drift":
		return intake.DriftTick{}
	case "retry":
		return intake.RetryFired{}
	case "named":
		named := intake.PodsNamed{}
		for _, word := range words[1:] {
			named.Keys = append(named.Keys, keyOf(t, word))
		}
		return named
	default:
		t.Fatalf("%q is no ask", words[0])
		return nil
	}
}

func keyOf(t *testing.T, text string) core.PodKey {
	t.Helper()
	key, err := core.ParsePodKey(text)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// turn performs what the intake asks for until it has had its turn. The arguments are synced=…,
// fails=list or fails=KEY, and during=ASK for what comes while the store is read.
func (s *story) turn(t *testing.T, command *datadriven.TestData) []string {
	store := newStore(t, command)
	var lines []string
	for range 20 {
		var action intake.Action
		s.intake, action = s.intake.Next(s.state)
		switch a := action.(type) {
		case nil:
			return lines
		case intake.ReadList:
			lines = append(lines, fmt.Sprintf("read the list of store %d", a.Store))
			s.meanwhile(t, &store)
			s.take(t, intake.ListRead{
				Store: a.Store, Synced: store.synced, Pods: store.pods, Failed: store.fails["list"],
			})
		case intake.ReadPods:
			lines = append(lines, fmt.Sprintf("read %v of store %d", a.Keys, a.Store))
			s.meanwhile(t, &store)
			s.take(t, store.read(a))
		case intake.Tell:
			lines = append(lines, "tell "+inputText(a.Input))
			s.state, _ = core.Reduce(s.state, a.Input)
		case intake.StartRetry:
			lines = append(lines, fmt.Sprintf("retry in %v", a.After))
		}
	}
	t.Fatalf("%s: a turn without end: %q", command.Pos, lines)
	return nil
}

func (s *story) meanwhile(t *testing.T, store *store) {
	for _, ask := range store.during {
		s.take(t, ask)
	}
	store.during = nil
}

func (s *story) known() string {
	var pods []string
	for standing := range s.state.Standings() {
		pods = append(pods, podText(standing.Pod))
	}
	return fmt.Sprintf("known: %v", pods)
}

// store is what a turn sees.
type store struct {
	synced core.Sync
	pods   []*core.Pod
	fails  map[string]bool
	during []intake.Ask
}

func newStore(t *testing.T, command *datadriven.TestData) store {
	t.Helper()
	s := store{synced: core.SyncDone, fails: map[string]bool{}}
	for _, arg := range command.CmdArgs {
		switch arg.Key {
		case "synced":
			s.synced = map[string]core.Sync{
				"yes": core.SyncDone, "no": core.SyncPending, "unknown": core.SyncUnknown,
			}[arg.Vals[0]]
		case "fails":
			for _, what := range arg.Vals {
				s.fails[what] = true
			}
		case "during":
			s.during = append(s.during, askOf(t, arg.Vals))
		default:
			t.Fatalf("%s: argument %q", command.Pos, arg.Key)
		}
	}
	for line := range strings.Lines(command.Input) {
		words := strings.Fields(line)
		s.pods = append(s.pods, &core.Pod{
			Key: keyOf(t, words[0]), UID: words[1], Phase: strings.Join(words[2:], ""),
		})
	}
	slices.SortFunc(s.pods, func(a, b *core.Pod) int { return a.Key.Compare(b.Key) })
	return s
}

func (s store) read(a intake.ReadPods) intake.PodsRead {
	read := intake.PodsRead{Store: a.Store}
	for _, key := range a.Keys {
		r := intake.PodRead{Key: key, Failed: s.fails[key.String()]}
		if at := slices.IndexFunc(s.pods, func(p *core.Pod) bool { return p.Key == key }); at >= 0 {
			r.Pod = s.pods[at]
		}
		read.Pods = append(read.Pods, r)
	}
	return read
}

func inputText(input core.Input) string {
	switch in := input.(type) {
	case core.PodStoreSet:
		synced := [...]string{"unknown", "yes", "no"}[in.Synced]
		return fmt.Sprintf("pod_store_set synced=%s %v", synced, podTexts(in.Pods))
	case core.ResourceSyncComplete:
		return fmt.Sprintf("resource_sync_complete %v", podTexts(in.Pods))
	case core.DriftPreventionTriggered:
		return fmt.Sprintf("drift_prevention_triggered %v", podTexts(in.Pods))
	case core.ResourceIndexUpdated:
		return fmt.Sprintf("resource_index_updated + %v - %v", podTexts(in.Upserted), in.Deleted)
	default:
		return fmt.Sprintf("%T", input)
	}
}

func podTexts(pods []*core.Pod) []string {
	var texts []string
	for _, pod := range pods {
		texts = append(texts, podText(pod))
	}
	return texts
}

func podText(pod *core.Pod) string {
	return strings.TrimSpace(fmt.Sprintf("%s %s %s", pod.Key, pod.UID, pod.Phase))
}
