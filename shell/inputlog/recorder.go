package inputlog

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// recorder is the part of a Writer that its goroutine owns: it encodes, digests and writes.
type recorder struct {
	path string
	run  Run
	tell func(Notice)

	// file is nil while nothing is recorded.
	file    *os.File
	regular bool
	// shared is file, for who has to close it while a write hangs.
	shared atomic.Pointer[os.File]
	// size is where the records in the file end, in bytes; kept for a regular file only.
	size int64
	// disturbed says what was found wrong with the file, "" for nothing; broken tells that it must not
	// be appended to any more.
	disturbed string
	broken    bool
	// written counts the bytes of this run, for others to read at any time.
	written atomic.Int64

	encoder  encoder
	digester Digester
	// buffer holds whole lines that are not written yet.
	buffer []byte
	seq    uint64
	// digest is that of the last record's effects; empty until they are known.
	digest string
	// sum is the checksum of the last line, writtenSum that of the last one that was written.
	sum, writtenSum uint32

	// state is the newest, nil while it is fresh. It is unknown while an input waits for its effects,
	// and after messages were lost.
	state   *core.State
	unknown bool
}

func newRecorder(path string, run Run) *recorder {
	r := &recorder{path: path, run: run, tell: func(Notice) {}}
	r.digester.password = r.encoder.secrets.of
	return r
}

// writeBeginning writes the first lines of the run: a header, or a restart record in a log that has
// one, then a snapshot if the state is not fresh. So a disk that cannot be written to is known now.
func (r *recorder) writeBeginning(file *os.File, regular bool, end ending) error {
	r.file, r.regular, r.size = file, regular, end.whole
	r.disturbed, r.broken = "", false
	r.buffer, r.digest = r.buffer[:0], ""
	r.sum, r.writtenSum = end.sum, end.sum
	r.encoder.known = knowledge{}
	r.encoder.json.Reset()
	r.seq = max(r.seq, end.seq)
	if end.begun {
		// Passwords of other runs are not known, so this one's get other numbers.
		r.encoder.secrets = placeholders{last: r.seq}
		if end.unended {
			r.buffer = append(r.buffer, '\n')
		}
		r.encoder.restart(r.run, end.seq)
	} else {
		r.encoder.header(r.run)
	}
	r.endLine()
	if r.state != nil {
		r.seq = r.encoder.snapshot(r.seq, time.Now(), *r.state)
		r.endLine()
	}
	if err := r.flush(); err != nil {
		r.file = nil
		return fmt.Errorf("writing the input log: %w", err)
	}
	r.shared.Store(file)
	return nil
}

// take adds a message to the buffer, and keeps the state.
func (r *recorder) take(m message) {
	r.unknown = m.isInput
	if m.isInput {
		r.seq++
	} else {
		r.state = m.after
	}
	switch {
	case r.file == nil:
	case m.isInput:
		r.encoder.input(r.seq, m.at, m.input, r.digest)
		r.digest = ""
		r.endLine()
	default:
		r.digest = r.digester.Sum(m.effects)
	}
}

func (r *recorder) endLine() {
	r.buffer, r.sum = appendSummed(r.buffer, r.encoder.json.Bytes(), r.sum)
	r.buffer = append(r.buffer, '\n')
	if cap(r.encoder.json.Bytes()) > maxKeptBuffer {
		r.encoder.json.SetBytes(nil)
	}
	r.encoder.json.Reset()
}

// flush writes the buffer. Where that fails, the file is cut back to whole lines, so that a last
// record can follow.
func (r *recorder) flush() error {
	if len(r.buffer) == 0 {
		return nil
	}
	var written int
	var err error
	if !r.broken {
		written, err = r.file.Write(r.buffer)
	}
	if err != nil {
		written = bytes.LastIndexByte(r.buffer[:written], '\n') + 1
		r.digest = ""
		r.sum = lastSum(r.buffer[:written], r.writtenSum)
	}
	r.writtenSum = r.sum
	r.size += int64(written)
	r.written.Add(int64(written))
	r.buffer = r.buffer[:0]
	if cap(r.buffer) > maxKeptBuffer {
		r.buffer = nil
	}
	if err == nil {
		r.checkSize()
	}
	return err
}

// checkSize finds out whether anybody else has cut the file or written to it.
func (r *recorder) checkSize() {
	if !r.regular || r.broken {
		return
	}
	info, err := r.file.Stat()
	switch {
	case err != nil || info.Size() == r.size:
		return
	case info.Size() < r.size:
		r.disturbed = "it was truncated"
	default:
		r.disturbed = "something else has written to it"
	}
	r.broken = true
}

// checkPath finds out whether the file is still the one at the path.
func (r *recorder) checkPath() {
	if r.file == nil || !r.regular || r.disturbed != "" {
		return
	}
	r.checkSize()
	mine, err := r.file.Stat()
	if err != nil || r.disturbed != "" {
		return
	}
	switch there, err := os.Stat(r.path); {
	case os.IsNotExist(err):
		r.disturbed = "it was deleted or moved away"
	case err == nil && !os.SameFile(mine, there):
		r.disturbed = "another file has taken its place"
	}
}

// beginAnew goes on in a file that holds everything since the newest state, which must be known.
func (r *recorder) beginAnew() error {
	if r.file == nil {
		return r.begin()
	}
	if !r.broken {
		// The old file is somebody's copy now: it ends in order.
		_ = r.writeClosing()
		r.release()
		return r.begin()
	}
	r.buffer = r.buffer[:0]
	file, before := r.file, r.size
	info, err := file.Stat()
	if err != nil {
		r.release()
		return err
	}
	end, err := readEnding(file, info.Size())
	if err != nil && info.Size() < before {
		// What was written after the cut: records of ours, without a beginning.
		end, err = ending{}, nil
	}
	if err == nil {
		err = r.cutAndBegin(file, info.Size(), end)
	}
	if err == nil {
		r.checkPath()
		return nil
	}
	r.file = file
	r.release()
	if r.setAside(err) != nil {
		return err
	}
	return r.begin()
}

// release closes the file; nothing is recorded any more.
func (r *recorder) release() {
	if r.file != nil {
		_ = r.file.Close()
	}
	r.file = nil
	r.shared.Store(nil)
}

// writeClosing ends the log of a run. One whose last input was never reduced has not ended in order:
// the reducer has panicked (R32).
func (r *recorder) writeClosing() error {
	if r.unknown && r.seq > 0 {
		r.writeStopped(fmt.Errorf("input %d was taken up and never reduced: the reducer panicked", r.seq))
		return nil
	}
	r.encoder.closing(time.Now(), r.seq, r.digest)
	r.endLine()
	return r.flush()
}

// writeStopped ends the log of a run in which recording had to stop, if that is still possible. No part
// of a record is left behind.
func (r *recorder) writeStopped(reason error) {
	if r.broken || r.regular && r.cutBack() != nil {
		return
	}
	r.encoder.stopped(time.Now(), reason.Error(), r.seq, r.digest)
	r.endLine()
	if r.flush() != nil && r.regular {
		_ = r.cutBack()
	}
}

// cutBack cuts off the part of a record that a failed write has left.
func (r *recorder) cutBack() error {
	info, err := r.file.Stat()
	if err != nil || info.Size() == r.size {
		return err
	}
	return r.file.Truncate(r.size)
}

// notice tells what became of a file that was begun anew.
func (r *recorder) notice(level slog.Level, why string) {
	text := why + "; the input log is begun anew"
	if r.state != nil {
		text += fmt.Sprintf(", from the state after input %d", r.seq)
	}
	r.tell(Notice{Level: level, Text: text})
}

type message struct {
	isInput bool
	at      time.Time
	input   core.Input
	effects []core.Effect
	after   *core.State
}
