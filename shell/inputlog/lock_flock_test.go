//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package inputlog

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// R28, R29: a log has one writer. Another one is refused before it has changed a byte, even of what
// looks like the torn tail of a crash but is a write on its way; after Close, the next one goes on.
func TestOneWriterAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	w := open(t, path, nil)
	w.Append(someTime, core.BecameLeader{})
	waitFor(t, func() bool { return len(stepsOf(t, contents(t, path))) == 1 })
	const onItsWay = `{"seq":2,"ti`
	if _, err := w.recorder.file.WriteString(onItsWay); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	before := contents(t, path)
	for range 2 {
		second, err := Open(path, testRun, nil)
		if err == nil {
			_ = second.Close()
			t.Fatal("a second writer has opened the log")
		}
		text := err.Error()
		if !strings.Contains(text, path) || strings.Contains(text, "\n") ||
			!strings.Contains(text, "is being recorded to by another process") {
			t.Errorf("the error is %q", text)
		}
	}
	if after := contents(t, path); !bytes.Equal(after, before) {
		t.Errorf("a writer that was refused has changed the log to\n%s", after)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("a writer that was refused has changed the mode: %v, %v", info.Mode(), err)
	}
	if err := w.recorder.file.Truncate(int64(len(before) - len(onItsWay))); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	next := open(t, path, nil)
	next.Append(someTime, core.BecameLeader{})
	if err := next.Close(); err != nil {
		t.Fatal(err)
	}
	entries, err := readAll(t, contents(t, path))
	if err != nil || len(entriesOf[Warning](entries)) > 0 || len(entriesOf[Step](entries)) != 2 {
		t.Errorf("the log holds %+v, %v", entries, err)
	}
}

// What is no file has no records to protect: several may write to a device.
func TestManyWritersToADevice(t *testing.T) {
	first, second := open(t, os.DevNull, nil), open(t, os.DevNull, nil)
	for _, w := range []*Writer{first, second} {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}
