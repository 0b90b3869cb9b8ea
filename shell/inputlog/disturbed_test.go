package inputlog

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// running reduces and records as the shell does, step by step, on a log that others interfere with.
type running struct {
	*testing.T
	*Writer
	path  string
	state core.State
	steps int
	// skipped counts the numbers that no input has.
	skipped int

	mutex sync.Mutex
	told  []Notice
}

func recordRunning(t *testing.T, path string) *running {
	t.Helper()
	r := &running{T: t, path: path, state: core.New(core.Config{})}
	w, err := Open(path, testRun, func(n Notice) {
		r.mutex.Lock()
		defer r.mutex.Unlock()
		r.told = append(r.told, n)
	})
	if err != nil {
		t.Fatal(err)
	}
	r.Writer = w
	t.Cleanup(func() { _ = w.Close() })
	for _, input := range []core.Input{
		core.ConfigValidated{AgentPort: 5555},
		core.CredentialsUpdated{Credentials: credentialsOf(t, "admin", "password")},
		core.PodStoreSet{Pods: podsOf(3), Synced: core.SyncDone},
	} {
		r.step(input)
	}
	return r
}

func (r *running) step(input core.Input) {
	r.Append(someTime, input)
	after, effects := core.Reduce(r.state, input)
	r.Writer.Effects(effects, after)
	r.state = after
	r.steps++
}

// written waits until the last step is in the file.
func (r *running) written() {
	r.Helper()
	waitFor(r, func() bool {
		log, err := os.ReadFile(r.path)
		return err == nil && strings.Contains(string(log), `"seq":`+strconv.Itoa(r.steps)+`,`)
	})
}

func (r *running) notices() []Notice {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return append([]Notice(nil), r.told...)
}

// toldOnce waits for a notice.
func (r *running) toldOnce(says string) {
	r.Helper()
	waitFor(r, func() bool { return len(r.notices()) > 0 })
	if told := r.notices(); len(told) != 1 || !strings.Contains(told[0].Text, says) || told[0].Err != nil {
		r.Errorf("told was %+v", told)
	}
}

// finish makes more steps and closes; the log at the path replays from its own beginning, and goes on
// to the last step.
func (r *running) finish(goesOnFrom int) {
	r.Helper()
	r.step(core.ProbeFinished{Probe: 1, Outcome: core.Answer{Version: "3.4.3"}})
	r.step(core.BecameLeader{})
	r.step(core.DriftPreventionTriggered{Pods: podsOf(2)})
	if err := r.Close(); err != nil {
		r.Error(err)
	}
	log := contents(r, r.path)
	steps := replayed(r, log)
	first := r.steps - len(steps)
	if first != goesOnFrom || !strings.Contains(steps[len(steps)-1], `"seq":`+strconv.Itoa(r.steps+r.skipped)+`,`) {
		r.Errorf("the log goes on from step %d instead of %d:\n%s", first, goesOnFrom, log)
	}
	assertMode(r.T, r.path)
}

// R29a: what happens to the file under the writer is noticed and told once, and the file at the path
// replays from its own beginning, whatever it was that happened.
func TestFileIsTakenAway(t *testing.T) {
	for name, test := range map[string]struct {
		disturb func(t *testing.T, path string) error
		says    string
	}{
		"truncated": {
			func(_ *testing.T, path string) error { return os.Truncate(path, 0) }, "it was truncated",
		},
		"deleted": {
			func(_ *testing.T, path string) error { return os.Remove(path) }, "it was deleted or moved away",
		},
		"moved away": {
			func(_ *testing.T, path string) error { return os.Rename(path, path+".1") }, "moved away",
		},
		"replaced by an empty file": {
			func(t *testing.T, path string) error {
				_ = os.Rename(path, path+".1")
				return os.WriteFile(path, nil, 0o644)
			}, "another file has taken its place",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := recordRunning(t, filepath.Join(t.TempDir(), "log"))
			r.written()
			if err := test.disturb(t, r.path); err != nil {
				t.Fatal(err)
			}
			// Nothing else need happen.
			r.toldOnce(test.says)
			r.finish(3)
			if _, err := os.Stat(r.path + ".1"); err == nil {
				old := contents(t, r.path+".1")
				if steps := replayed(t, old); len(steps) != 3 || !strings.Contains(string(old), `"kind":"closing"`) {
					t.Errorf("the old file holds\n%s", old)
				}
			}
		})
	}
}

// A truncation that is only noticed since the next records stand alone in the file: they are covered by
// the state from which the file is begun anew.
func TestFileIsTruncatedBetweenTwoRecords(t *testing.T) {
	r := recordRunning(t, filepath.Join(t.TempDir(), "log"))
	r.written()
	if err := os.Truncate(r.path, 0); err != nil {
		t.Fatal(err)
	}
	r.step(core.BecameLeader{})
	r.toldOnce("it was truncated")
	r.finish(4)
}

// What is left of a file that was cut in the middle stays, and the run goes on behind it.
func TestFileIsCutInTheMiddle(t *testing.T) {
	r := recordRunning(t, filepath.Join(t.TempDir(), "log"))
	r.written()
	log := string(contents(t, r.path))
	if err := os.Truncate(r.path, int64(strings.Index(log, `"seq":2`)+40)); err != nil {
		t.Fatal(err)
	}
	r.toldOnce("it was truncated")
	r.skipped = 1 // a password got number 4 anew, behind the three inputs before
	r.finish(2)   // step 1 is left
	if log := string(contents(t, r.path)); !strings.Contains(log, `"last":1,"sum"`) {
		t.Errorf("the restart does not tell the last input before:\n%s", log)
	}
}

// What else is written into the file does not stand in the way of what follows.
func TestFileIsWrittenToByOthers(t *testing.T) {
	r := recordRunning(t, filepath.Join(t.TempDir(), "log"))
	r.written()
	file, err := os.OpenFile(r.path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = file.WriteString("not a record\nneither\n")
	_ = file.Close()
	waitFor(t, func() bool { return len(r.notices()) == 2 })
	told := r.notices()
	if !strings.Contains(told[0].Text, "it is now "+r.path+".set-aside-") ||
		!strings.Contains(told[1].Text, "something else has written to it") {
		t.Errorf("told was %+v", told)
	}
	r.finish(3)
	if aside := setAsideBeside(t, r.path); len(aside) != 1 {
		t.Errorf("set aside are %v", aside)
	}
}

// A request to reopen leaves a file that is in its place alone.
func TestReopenInPlace(t *testing.T) {
	r := recordRunning(t, filepath.Join(t.TempDir(), "log"))
	for range 3 {
		r.Reopen()
		r.written()
	}
	r.finish(0)
	if told := r.notices(); len(told) > 0 {
		t.Errorf("told was %+v", told)
	}
}

// A disk that is full at the start keeps nobody from working (R29a): it is told, and a request begins
// the recording once there is room, with what is known by then.
func TestFullDiskAtTheStart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	if err := os.Symlink("/dev/full", path); err != nil {
		t.Fatal(err)
	}
	r := recordRunning(t, path)
	told := r.notices()
	if len(told) != 1 || r.Err() == nil || told[0].Err != r.Err() ||
		!strings.Contains(r.Err().Error(), "no space left on device") {
		t.Fatalf("told was %+v, the error is %v", told, r.Err())
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	r.Reopen()
	waitFor(t, func() bool { return r.Err() == nil })
	r.finish(3)
}

// A path at which nothing can be written any more ends the recording, and nothing else; a request begins
// it again.
func TestDirectoryIsTakenAway(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "folder")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	r := recordRunning(t, filepath.Join(folder, "log"))
	r.written()
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return r.Err() != nil })
	r.step(core.BecameLeader{})
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	r.Reopen()
	waitFor(t, func() bool { return r.Err() == nil })
	r.finish(4)
}
