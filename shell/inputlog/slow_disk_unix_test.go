//go:build unix

package inputlog

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// hungLog records into a pipe that nobody reads, until that has stopped the recording.
func hungLog(t *testing.T) (w *Writer, path string, told chan error) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	told = make(chan error, 2)
	w = open(t, path, func(err error) { told <- err })
	w.patience = closeTimeout
	deadline := time.Now().Add(5 * time.Second)
	for w.Err() == nil {
		start := time.Now()
		w.Append(someTime, core.DriftPreventionTriggered{Pods: podsOf(1)})
		w.Effects(nil, core.State{})
		if spent := time.Since(start); spent > time.Second {
			t.Fatalf("recording has blocked its caller for %v", spent)
		}
		if time.Now().After(deadline) {
			t.Fatal("a pipe that nobody reads does not stop the recording")
		}
	}
	return w, path, told
}

// R28, R31: a disk that hangs stops the recording, loudly and once, and no shutdown waits for it.
func TestHungDisk(t *testing.T) {
	w, _, told := hungLog(t)
	if err := <-told; !errors.Is(err, ErrTooSlow) {
		t.Errorf("told was %v", err)
	}
	start := time.Now()
	if err := w.Close(); !errors.Is(err, ErrTooSlow) {
		t.Errorf("Close answers %v", err)
	}
	if spent := time.Since(start); spent > time.Second {
		t.Errorf("Close takes %v", spent)
	}
	w.Append(someTime, core.BecameLeader{})
	if len(told) > 0 {
		t.Errorf("told again: %v", <-told)
	}
}

// A disk that has only been slow gets all records up to the stop, and one that says so.
func TestSlowDisk(t *testing.T) {
	w, path, _ := hungLog(t)
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	w.patience = time.Minute
	closed := make(chan error, 1)
	go func() { closed <- w.Close() }()
	var steps, stops, digested int
	for reader := NewReader(file); ; {
		entry, err := reader.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch entry := entry.(type) {
		case Step:
			if digested != steps || stops > 0 {
				t.Errorf("step %d comes after the stop", entry.Seq)
			}
			steps++
		case Reduced:
			digested++
		case Stopped:
			stops++
			if entry.Reason != w.Err().Error() || entry.Line != steps+2 {
				t.Errorf("the log says %+v", entry)
			}
		case Warning:
			t.Error(entry)
		}
	}
	if err := <-closed; !errors.Is(err, ErrTooSlow) {
		t.Errorf("Close answers %v", err)
	}
	// Of the last step, the effects may be what found no place.
	if steps < queuedRecords || stops != 1 || steps-digested > 1 {
		t.Errorf("%d steps, %d without digest, %d stops are in the log", steps, steps-digested, stops)
	}
}

// A disk that hangs when the run ends does not keep the shutdown from its second (R31).
func TestDiskThatHangsAtClose(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	w := open(t, path, func(err error) { t.Errorf("told was %v", err) })
	w.patience = closeTimeout
	w.Append(someTime, core.DriftPreventionTriggered{Pods: podsOf(1000)})
	start := time.Now()
	if err := w.Close(); !errors.Is(err, ErrTooSlow) || time.Since(start) > time.Second {
		t.Errorf("Close answers %v after %v", err, time.Since(start))
	}
}

// A file that may not grow any more is left whole: cut back to its records, with the stop told if
// that still fits. The limit of file sizes is the process's, so a pipe cannot stand for it.
func TestPartialWriteIsCutBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	w := open(t, path, nil)
	w.Append(someTime, core.BecameLeader{})
	w.Effects(nil, core.State{})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r := newRecorder(path, Run{})
	if err := r.beginIn(file); err != nil {
		t.Fatal(err)
	}
	// What a write that failed half-way leaves behind.
	if _, err := file.WriteString(`{"seq":2,"time":"20`); err != nil {
		t.Fatal(err)
	}
	r.writeStopped(errors.New("no space left"))
	entries, err := readAll(t, contents(t, path))
	if err != nil || len(entriesOf[Warning](entries)) > 0 {
		t.Fatalf("%v, %+v", err, entries)
	}
	if stops := entriesOf[Stopped](entries); len(stops) != 1 || stops[0].Reason != "no space left" {
		t.Errorf("the log says %+v", entries)
	}
}
