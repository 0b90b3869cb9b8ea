package inputlog

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// sameInputs compares facts by Pod.Equal and passwords by the placeholder that stands for them.
// An empty list and nil are the same, to the reducer too.
func sameInputs() cmp.Options {
	return cmp.Options{
		cmpopts.EquateEmpty(),
		cmp.Comparer(func(a, b *core.Pod) bool {
			return a == nil && b == nil || a != nil && b != nil && a.Equal(b)
		}),
		cmp.Comparer(func(a, b core.Credentials) bool { return a == b }),
	}
}

// withPlaceholders is what is read back for an input.
func withPlaceholders(input core.Input, secrets *placeholders) core.Input {
	update, isUpdate := input.(core.CredentialsUpdated)
	if !isUpdate || update.Credentials.IsZero() {
		return input
	}
	credentials, err := core.NewCredentials(
		update.Credentials.Username(), secrets.of(update.Credentials.Password()))
	if err != nil {
		panic(err)
	}
	return core.CredentialsUpdated{Credentials: credentials}
}

func readAll(t testing.TB, log []byte) (entries []Entry, err error) {
	t.Helper()
	reader := NewReader(bytes.NewReader(log))
	for {
		entry, err := reader.Next()
		if err == io.EOF {
			return entries, nil
		}
		if err != nil {
			return entries, err
		}
		entries = append(entries, entry)
	}
}

func entriesOf[T Entry](entries []Entry) (found []T) {
	for _, entry := range entries {
		if e, is := entry.(T); is {
			found = append(found, e)
		}
	}
	return found
}

// R28: what is written is what is read, for inputs of all kinds in any order, over restarts.
func TestRoundTripOfAllInputs(t *testing.T) {
	run := Run{Build: "v1 \xff", Started: time.Unix(1, 5).UTC(), Config: core.DefaultConfig()}
	path := filepath.Join(t.TempDir(), "log")
	rapid.Check(t, func(t *rapid.T) {
		_ = os.Remove(path)
		var want []reduced
		var secrets placeholders
		for range rapid.IntRange(1, 3).Draw(t, "runs") {
			secrets = placeholders{last: uint64(len(want))} // never fewer than there were
			w, err := Open(path, run, nil)
			if err != nil {
				t.Fatal(err)
			}
			w.patience = time.Minute
			t.Cleanup(func() { _ = w.Close() }) // a draw that leads nowhere ends the case early
			for _, input := range rapid.SliceOfN(anyInput(), 0, 6).Draw(t, "inputs") {
				at := anyTime().Draw(t, "at")
				w.Append(at, input)
				want = append(want, reduced{Step: Step{
					Seq: uint64(len(want) + 1), At: at.UTC(),
					Input: withPlaceholders(input, &secrets),
				}})
				if rapid.Bool().Draw(t, "reduced") {
					effects := []core.Effect{core.Refuse{Reason: anyText().Draw(t, "reason")}}
					w.Effects(effects, core.State{})
					want[len(want)-1].Digest = NewDigester().Sum(effects)
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
		}
		log, _ := os.ReadFile(path)
		entries, err := readFrom(bytes.NewReader(log))
		if err != nil {
			t.Fatalf("%v in\n%s", err, log)
		}
		if len(entriesOf[Warning](entries)) > 0 {
			t.Fatalf("unexpected %+v", entries)
		}
		for _, started := range entriesOf[Started](entries) {
			if !cmp.Equal(started.Run, run) {
				t.Fatalf("run: %s", cmp.Diff(run, started.Run))
			}
		}
		got := reducedOf(entries)
		for i := range got {
			got[i].Line = 0
		}
		if diff := cmp.Diff(want, got, sameInputs()); diff != "" {
			t.Fatalf("steps: %s\n%s", diff, log)
		}
	})
}

// The table of kinds and the generators know every type that core declares an input.
func TestEveryInputTypeHasAKind(t *testing.T) {
	packages, err := parser.ParseDir(token.NewFileSet(), "../../core", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	declared := map[string]bool{}
	ast.Inspect(packages["core"], func(node ast.Node) bool {
		method, is := node.(*ast.FuncDecl)
		if is && method.Name.Name == "isInput" {
			declared[method.Recv.List[0].Type.(*ast.Ident).Name] = true
		}
		return true
	})
	for _, kind := range kinds {
		if !declared[kind.input.Name()] {
			t.Errorf("kind %s is of %v, which is no input of core", kind.name, kind.input)
		}
		delete(declared, kind.input.Name())
		if anyInputOf[kind.name] == nil {
			t.Errorf("no generator draws a %s", kind.name)
		}
	}
	for name := range declared {
		t.Errorf("core.%s has no kind", name)
	}
}

// Something that is no input of a known type is recorded as none: the reducer refuses both.
func TestNilAndPointerInputsAreNone(t *testing.T) {
	for _, input := range []core.Input{nil, &core.BecameLeader{}, (*core.TimerFired)(nil)} {
		if name := KindName(input); name != "none" {
			t.Errorf("%T is of kind %q", input, name)
		}
	}
	if name := KindName(core.BecameLeader{}); name != "became_leader" {
		t.Errorf("BecameLeader is of kind %q", name)
	}
}

// A replay needs the whole configuration: every field is in the log.
func TestConfigIsWrittenInFull(t *testing.T) {
	config := core.Config{AgentScheme: "https", MaxProbes: 2, RetryDelay: 1500 * time.Millisecond}
	var e encoder
	e.header(Run{Config: config})
	run, _, err := newDecoder().header(e.json.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	want := core.DefaultConfig()
	want.AgentScheme, want.MaxProbes, want.RetryDelay = "https", 2, 1500*time.Millisecond
	if diff := cmp.Diff(want, run.Config); diff != "" {
		t.Error(diff)
	}
	all := reflect.TypeFor[core.Config]().NumField()
	if written := len(configFields(&config)); written != all {
		t.Errorf("%d of %d fields of core.Config are written", written, all)
	}
	if !strings.Contains(string(e.json.Bytes()), `"retry_delay":"1.5s"`) {
		t.Errorf("durations are not readable: %s", e.json.Bytes())
	}
}

func TestEscapedTextIsRefusedWhenBroken(t *testing.T) {
	for _, text := range []string{"\x00", "a\x004", "\x00zz"} {
		if got, err := unescape([]byte(text)); err == nil {
			t.Errorf("%q is read as %q", text, got)
		}
	}
	if escape("plain é") != "plain é" {
		t.Error("plain text does not stand as it is")
	}
}
