package inputlog

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var testRun = Run{Build: "test", Started: someTime}

// open is Open with a Close that bears a busy machine.
func open(t interface{ Fatal(...any) }, path string, onStop func(error)) *Writer {
	w, err := Open(path, testRun, func(n Notice) {
		if n.Err != nil && onStop != nil {
			onStop(n.Err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	w.patience = time.Minute
	return w
}

// R28: the digest of a step stands in the record after it, the last one in the closing record.
func TestDigestsStandInTheNextRecord(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	first, second := []core.Effect{core.StopTimer{Timer: 1}}, []core.Effect(nil)
	w := open(t, path, nil)
	w.Append(someTime, core.TimerFired{Timer: 1})
	w.Effects(first, core.State{})
	w.Append(someTime, core.TimerFired{Timer: 2})
	w.Effects(second, core.State{})
	if err := errors.Join(w.Close(), w.Close()); err != nil {
		t.Fatal(err)
	}
	log := contents(t, path)
	lines := strings.Split(string(log), "\n")
	a, b := NewDigester().Sum(first), NewDigester().Sum(second)
	for line, want := range map[int]string{2: "", 3: a, 4: b} {
		if !strings.Contains(lines[line-1], `"previous_effects":"`+want+`","sum":`) {
			t.Errorf("line %d is %s", line, lines[line-1])
		}
	}
	steps := stepsOf(t, log)
	if steps[0].Digest != a || steps[1].Digest != b {
		t.Errorf("the steps are %+v", steps)
	}
}

// R32: an input that breaks the reducer is in the log, though it never had effects.
func TestCloseAfterAnInputWithoutEffects(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	func() {
		w := open(t, path, nil)
		defer func() {
			if recover() == nil {
				t.Error("nothing has panicked")
			}
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		}()
		w.Append(someTime, core.BecameLeader{})
		panic("a bug in the reducer")
	}()
	log := contents(t, path)
	steps := stepsOf(t, log)
	if len(steps) != 1 || steps[0].Input != (core.BecameLeader{}) || steps[0].Digest != "" {
		t.Errorf("the steps are %+v", steps)
	}
	entries, _ := readAll(t, log)
	stops := entriesOf[Stopped](entries)
	if len(stops) != 1 || strings.Contains(string(log), `"kind":"closing"`) ||
		stops[0].Reason != "input 1 was taken up and never reduced: the reducer panicked" {
		t.Errorf("the end does not name the input in\n%s", log)
	}
}

// A record is in the file soon, without Close: the writer flushes when it has caught up.
func TestFlushWhenIdle(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	w := open(t, path, nil)
	w.Append(someTime, core.BecameLeader{})
	waitFor(t, func() bool { return len(stepsOf(t, contents(t, path))) == 1 })
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

func waitFor(t testing.TB, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); !condition(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("waited for 5 s in vain")
		}
	}
}

// Concurrent calls neither race nor lose what was queued before Close.
func TestConcurrentAppendAndClose(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	w := open(t, path, nil)
	var appended, late sync.WaitGroup
	for i := range 4 {
		appended.Go(func() {
			for range 50 {
				w.Append(someTime, core.TimerFired{Timer: core.TimerID(i)})
				w.Effects(nil, core.State{})
			}
		})
	}
	appended.Wait()
	for range 4 {
		late.Go(func() {
			for w.Err() == nil {
				w.Append(someTime, core.BecameLeader{})
				w.Effects(nil, core.State{})
				if err := w.Close(); err != nil {
					t.Error(err)
				}
				return
			}
		})
	}
	late.Wait()
	w.Append(someTime, core.BecameLeader{})
	if steps := stepsOf(t, contents(t, path)); len(steps) < 200 || len(steps) > 204 {
		t.Errorf("%d steps are in the log", len(steps))
	}
}

// A broken pipe stands for a disk that fails: told once, with a clear text, and then silence.
func TestWriteErrorStopsRecording(t *testing.T) {
	source, sink, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	_ = source.Close()
	var told []error
	r := newRecorder("", Run{})
	r.file = sink
	r.tell = func(n Notice) { told = append(told, n.Err) }
	w := startWriter(r, nil)
	w.Append(someTime, core.BecameLeader{})
	waitFor(t, func() bool { return w.Err() != nil })
	w.Append(someTime, core.BecameLeader{})
	w.Effects(nil, core.State{})
	if err := w.Close(); err == nil || err != w.Err() || len(told) != 1 || told[0] != err {
		t.Errorf("Close answers %v, told was %v", err, told)
	}
	const want = "writing the input log: write |1: broken pipe"
	if text := w.Err().Error(); text != want {
		t.Errorf("the error is %q", text)
	}
}

func TestUnwritablePaths(t *testing.T) {
	dir := t.TempDir()
	for path, text := range map[string]string{
		filepath.Join(dir, "none", "log"): "no such file or directory",
		dir:                               "is a directory",
	} {
		w, err := Open(path, Run{}, nil)
		if err == nil {
			_ = w.Close()
			t.Errorf("%s can be written", path)
			continue
		}
		if !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), text) ||
			!strings.Contains(err.Error(), "input log") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: the error is %q", path, err)
		}
	}
}

// Bytes counts what this run has added to the file, no more.
func TestBytesCountsThisRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	for before := 0; before < 3; before++ {
		size := func() int64 {
			info, err := os.Stat(path)
			if err != nil {
				return 0
			}
			return info.Size()
		}
		was := size()
		w := open(t, path, nil)
		w.Append(someTime, core.BecameLeader{})
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if added := size() - was; w.Bytes() != added || added == 0 {
			t.Errorf("run %d: %d bytes counted, %d added", before, w.Bytes(), added)
		}
	}
}
