package fuzz

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/core/invariant"
	"github.com/haproxy-discovery/haproxy-discovery/fuzz/story"
)

// twin is a state that was restored from a snapshot once, and has seen every input since (R35).
type twin struct{ state core.State }

// restart restores the twin from a snapshot of the state.
func (w *twin) restart(t *rapid.T, from core.State) {
	restored, err := core.Restore(from.Snapshot())
	if err != nil {
		t.Fatalf("R35: a snapshot is refused: %v", err)
	}
	if is, was := invariant.Fingerprint(restored), invariant.Fingerprint(from); is != was {
		t.Fatalf("R35: restored was\n%s\ninstead of\n%s", is, was)
	}
	w.state = restored
}

// follow reduces the input that has led to after, and compares what comes of it.
func (w *twin) follow(t *rapid.T, input core.Input, after core.State, effects []core.Effect) {
	again, same := core.Reduce(w.state, input)
	if is, want := effectTexts(same), effectTexts(effects); is != want {
		t.Fatalf("R35: after a restored state come\n%s\ninstead of\n%s", is, want)
	}
	if is, want := invariant.Fingerprint(again), invariant.Fingerprint(after); is != want {
		t.Fatalf("R35: the restored state becomes\n%s\ninstead of\n%s", is, want)
	}
	w.state = again
}

func effectTexts(effects []core.Effect) string {
	var text strings.Builder
	for _, effect := range effects {
		text.WriteString(story.EffectText{Effect: effect}.String() + "\n")
	}
	return text.String()
}

// A snapshot in which anything was changed is refused with an error that says what is wrong, or it
// gives a state from which Reduce goes on without a panic, within the bounds on what is outstanding.
func TestChangedSnapshotIsRefusedOrWorks(t *testing.T) { rapid.Check(t, changeSnapshot) }

// FuzzChangedSnapshot is the same for a fuzzer that looks for new ways through the code.
func FuzzChangedSnapshot(f *testing.F) { f.Fuzz(rapid.MakeFuzz(changeSnapshot)) }

func changeSnapshot(t *rapid.T) {
	m := newMachine(drawCaps(t))
	m.openGate(t)
	for range rapid.IntRange(0, 20).Draw(t, "steps") {
		m.step(t, m.drawInput(t, m.state))
	}
	snapshot := m.state.Snapshot()
	snapshot.Pods = append([]core.PodSnapshot(nil), snapshot.Pods...)
	for range rapid.IntRange(1, 3).Draw(t, "changes") {
		changeSomewhere(t, reflect.ValueOf(&snapshot).Elem(), "snapshot")
	}
	state, err := core.Restore(snapshot)
	if err != nil {
		subject, detail, found := strings.Cut(strings.TrimPrefix(err.Error(), core.ErrSnapshot.Error()+": "), ": ")
		if !errors.Is(err, core.ErrSnapshot) || !found || subject == "" || detail == "" || strings.Contains(detail, "\n") {
			t.Fatalf("the error does not name what is wrong: %v", err)
		}
		return
	}
	for range rapid.IntRange(1, 20).Draw(t, "more steps") {
		input := m.drawInput(t, state)
		t.Logf("then %v", story.InputText{Input: input})
		state, _ = core.Reduce(state, input)
		if outstanding, most := state.OutstandingLen(), state.Config().MaxProbes; outstanding > most {
			t.Fatalf("I5: %d probes of %d", outstanding, most)
		}
	}
}

// changeSomewhere descends to a random place and changes the value there.
func changeSomewhere(t *rapid.T, value reflect.Value, path string) {
	if pod, is := value.Interface().(*core.Pod); is && pod != nil && rapid.Bool().Draw(t, "change the facts") {
		value.Set(reflect.ValueOf(drawChanged(t, pod)))
		t.Logf("other facts in %s", path)
		return
	}
	switch value.Kind() {
	case reflect.Struct:
		if value.Type() == reflect.TypeFor[core.Credentials]() {
			credentials := rapid.SampledFrom(append(story.Credentials[:1:1], core.Credentials{}))
			value.Set(reflect.ValueOf(credentials.Draw(t, "credentials")))
			return
		}
		field := rapid.IntRange(0, value.NumField()-1).Draw(t, "field")
		changeSomewhere(t, value.Field(field), path+"."+value.Type().Field(field).Name)
	case reflect.Slice:
		changeList(t, value, path)
	case reflect.Pointer:
		value.SetZero()
	case reflect.Bool:
		value.SetBool(!value.Bool())
	case reflect.String:
		value.SetString(rapid.SampledFrom([]string{"", "a", "http", "u1", "=,="}).Draw(t, "text"))
	case reflect.Int, reflect.Int64:
		value.SetInt(drawNear(t, value.Int()))
	case reflect.Uint64:
		value.SetUint(uint64(drawNear(t, int64(value.Uint()))))
	default:
		t.Fatalf("%s has a %s, which nobody changes", path, value.Type())
	}
	t.Logf("changed: %s", path)
}

func changeList(t *rapid.T, list reflect.Value, path string) {
	if list.Len() == 0 {
		list.Set(reflect.Append(list, reflect.Zero(list.Type().Elem())))
		return
	}
	i := rapid.IntRange(0, list.Len()-1).Draw(t, "element")
	switch rapid.IntRange(0, 5).Draw(t, "fate") {
	case 0:
		list.Set(reflect.AppendSlice(list.Slice3(0, i, i), list.Slice(i+1, list.Len())))
	case 1:
		list.Set(reflect.Append(list, list.Index(i)))
	default:
		changeSomewhere(t, list.Index(i), path)
	}
}

func drawNear(t *rapid.T, number int64) int64 {
	return rapid.SampledFrom([]int64{
		0, number + 1, number - 1, -number, 1, 2, 1 << 40, 1<<63 - 1, -1 << 63,
	}).Draw(t, "number")
}
