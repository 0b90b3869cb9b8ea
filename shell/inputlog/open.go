package inputlog

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"syscall"
	"time"
)

// ownerOnly is the mode of a log (R26).
const ownerOnly = 0o600

// Open begins to record a run. It makes a new log, or appends the run to an existing one: of that the
// header and the end are read, a torn tail is cut off, and a restart record follows. A log that others
// could read or write is closed to them.
//
// The error says that the path can never work: there is no such directory, it is one, it is not
// permitted, or another writer has the log open. Whatever else is wrong does not keep a program from
// its work (R29a): a file that is damaged or no log is set aside under another name; where a disk is
// full, say, the Writer begins without recording, as if that had stopped, and Reopen tries again.
//
// The path may be a pipe or a device; then the run always begins with a header, and nothing keeps
// other writers off.
//
// tell, if not nil, is told what happens to the log. It is called in the goroutine that notices, maybe
// the caller of Append, so it must not block.
func Open(path string, run Run, tell func(Notice)) (*Writer, error) {
	r := newRecorder(path, run)
	if tell != nil {
		r.tell = tell
	}
	err := r.begin()
	if errors.As(err, &hopeless{}) {
		return nil, err
	}
	return startWriter(r, err), nil
}

// Notice tells what has happened to a log.
type Notice struct {
	// Level is Error where recording has stopped or something was in its way, Info for what was asked
	// for, and Warn for the rest.
	Level slog.Level
	Text  string
	// Err is why recording has stopped; nil if it goes on.
	Err error
}

// hopeless marks errors of a path that can never work.
type hopeless struct{ error }

func (h hopeless) Unwrap() error { return h.error }

var hopelessErrors = []error{
	fs.ErrNotExist, fs.ErrPermission, syscall.EINVAL, syscall.ENXIO,
	syscall.ENOTDIR, syscall.EISDIR, syscall.ENAMETOOLONG, syscall.ELOOP, syscall.EROFS,
}

func openFile(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, ownerOnly)
	if err == nil {
		return file, nil
	}
	err = fmt.Errorf("opening the input log: %w", err)
	for _, never := range hopelessErrors {
		if errors.Is(err, never) {
			return nil, hopeless{err}
		}
	}
	return nil, err
}

// begin opens the file at the path and begins a run in it.
func (r *recorder) begin() error {
	file, err := openFile(r.path)
	if err != nil {
		return err
	}
	err = r.beginIn(file)
	if errors.Is(err, errForeign) {
		if err = r.setAside(err); err == nil {
			_ = file.Close()
			if file, err = openFile(r.path); err != nil {
				return err
			}
			err = r.beginIn(file)
		}
	}
	if err != nil {
		_ = file.Close()
	}
	return err
}

// beginIn begins a run in a file that was just opened.
func (r *recorder) beginIn(file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("opening the input log: %w", err)
	}
	if !info.Mode().IsRegular() {
		if r.regular { // as it was before: nobody may ever read what takes its place
			return fmt.Errorf("%w: %s is no regular file any more", errForeign, file.Name())
		}
		return r.writeBeginning(file, false, ending{})
	}
	// Before anything is read or cut: a write on its way looks like a torn tail.
	if held := lock(file); held {
		return hopeless{fmt.Errorf(
			"opening the input log: %q is being recorded to by another process", file.Name())}
	}
	end, err := readEnding(file, info.Size())
	if err != nil {
		return fmt.Errorf("appending to %s: %w", file.Name(), err)
	}
	// Only now: a file that is no log stays as it is.
	if info.Mode().Perm()&^ownerOnly != 0 {
		if err := file.Chmod(ownerOnly); err != nil {
			r.tell(Notice{Level: slog.LevelError, Text: "others may read the input log: " + err.Error()})
		}
	}
	return r.cutAndBegin(file, info.Size(), end)
}

// cutAndBegin cuts off what is not whole; nothing is cut from a file that is (one to which only may be
// appended refuses that).
func (r *recorder) cutAndBegin(file *os.File, size int64, end ending) error {
	if end.whole != size {
		if err := file.Truncate(end.whole); err != nil {
			return fmt.Errorf("cutting off what is torn in %s: %w", file.Name(), err)
		}
	}
	return r.writeBeginning(file, true, end)
}

// setAside renames a file that is in the way.
func (r *recorder) setAside(reason error) error {
	stamp := r.path + ".set-aside-" + time.Now().UTC().Format("20060102T150405Z")
	aside := stamp
	for i := 2; ; i++ {
		if _, err := os.Lstat(aside); errors.Is(err, fs.ErrNotExist) {
			break
		}
		aside = fmt.Sprintf("%s-%d", stamp, i)
	}
	if err := os.Rename(r.path, aside); err != nil {
		return fmt.Errorf("%w; setting it aside: %w", reason, err)
	}
	r.tell(Notice{Level: slog.LevelError, Text: fmt.Sprintf("%v; it is now %s", reason, aside)})
	return nil
}
