package inputlog

import (
	"fmt"
	"io"
	"os"
)

// ownerOnly is the mode of a log (R26).
const ownerOnly = 0o600

// Open begins to record a run. It makes a new log, or appends the run to an existing one: that is
// read and checked first, a torn tail is cut off, and a restart record follows. A log that others
// could read or write is closed to them. A damaged log, a file that is none, and a log in a newer
// format are refused, with an error that names the line; a log that another writer has open is
// refused, too, and left as it is.
//
// The path may be a pipe or a device; then the run always begins with a header, and nothing keeps
// other writers off.
//
// onStop, if not nil, is told why recording had to stop: at most once, and never for Close. It is
// called in the goroutine that notices, maybe the caller of Append, so it must not block.
func Open(path string, run Run, onStop func(error)) (*Writer, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, ownerOnly)
	if err != nil {
		return nil, fmt.Errorf("opening the input log: %w", err)
	}
	recorder, err := begin(file, run)
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return startWriter(recorder, onStop), nil
}

// begin writes the first line of the run, so that a disk that cannot be written to is known now.
func begin(file *os.File, run Run) (*recorder, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("opening the input log: %w", err)
	}
	recorder := newRecorder(file, info.Mode())
	isRestart := false
	if recorder.regular {
		// Before anything is read or cut: a write on its way looks like a torn tail.
		if held := lock(file); held {
			return nil, fmt.Errorf(
				"opening the input log: %q is being recorded to by another process", file.Name())
		}
		if isRestart, err = recorder.resume(); err != nil {
			return nil, fmt.Errorf("appending to %s: %w", file.Name(), err)
		}
		// Only now: a file that is no log stays as it is.
		if info.Mode().Perm()&^ownerOnly != 0 {
			if err := file.Chmod(ownerOnly); err != nil {
				return nil, fmt.Errorf("closing the input log to others: %w", err)
			}
		}
	}
	if isRestart {
		recorder.encoder.restart(run)
	} else {
		recorder.encoder.header(run)
	}
	recorder.endLine()
	if err := recorder.flush(); err != nil {
		return nil, fmt.Errorf("writing the input log: %w", err)
	}
	return recorder, nil
}

// resume goes to the end of what is whole in the file and tells whether that is a log already.
func (r *recorder) resume() (isRestart bool, err error) {
	reader := NewReader(r.file)
	for err == nil {
		_, err = reader.Next()
	}
	if err != io.EOF {
		return false, err
	}
	if err := r.file.Truncate(reader.whole); err != nil {
		return false, err
	}
	r.size = reader.whole
	if reader.unended {
		r.buffer = append(r.buffer, '\n')
	}
	r.seq = reader.lastSeq
	r.sum = reader.sum
	r.writtenSum = reader.sum
	r.encoder.secrets.last = reader.decoder.lastSecret
	return reader.begun, nil
}
