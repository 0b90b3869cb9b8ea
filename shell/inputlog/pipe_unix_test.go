//go:build unix

package inputlog

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// R29a: a pipe that nobody reads takes the place of the log: it is set aside, and a file begun anew.
func TestFileIsReplacedByAPipe(t *testing.T) {
	r := recordRunning(t, filepath.Join(t.TempDir(), "log"))
	r.written()
	if err := os.Rename(r.path, r.path+".1"); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(r.path, 0o600); err != nil {
		t.Fatal(err)
	}
	waitFor(r, func() bool { return len(r.notices()) == 2 })
	told := r.notices()
	if !strings.Contains(told[0].Text, "no regular file any more; it is now") ||
		!strings.Contains(told[1].Text, "another file has taken its place") {
		t.Errorf("told was %+v", told)
	}
	r.finish(3)
	if info, err := os.Stat(r.path); err != nil || !info.Mode().IsRegular() {
		t.Errorf("the log is %v, %v", info, err)
	}
	if aside, _ := filepath.Glob(r.path + ".set-aside-*"); len(aside) != 1 {
		t.Errorf("set aside: %q", aside)
	}
}
