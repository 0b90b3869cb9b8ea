package inputlog

import (
	"bytes"
	"io/fs"
	"os"
	"sync/atomic"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// recorder is the part of a Writer that its goroutine owns: it encodes, digests and writes.
type recorder struct {
	file    *os.File
	regular bool
	// size is where the records in the file end, in bytes; kept for a regular file only.
	size int64
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
}

func newRecorder(file *os.File, mode fs.FileMode) *recorder {
	r := &recorder{file: file, regular: mode.IsRegular()}
	r.digester.password = r.encoder.secrets.of
	return r
}

// take adds a message to the buffer.
func (r *recorder) take(m message) {
	if m.isInput {
		r.seq++
		r.encoder.input(r.seq, m.at, m.input, r.digest)
		r.digest = ""
		r.endLine()
	} else {
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
	written, err := r.file.Write(r.buffer)
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
	return err
}

// writeClosing ends the log of a run.
func (r *recorder) writeClosing() error {
	r.encoder.closing(time.Now(), r.digest)
	r.endLine()
	return r.flush()
}

// writeStopped ends the log of a run in which recording had to stop, if that is still possible.
func (r *recorder) writeStopped(reason error) {
	if r.regular && r.file.Truncate(r.size) != nil {
		return
	}
	r.encoder.stopped(time.Now(), reason.Error(), r.digest)
	r.endLine()
	_ = r.flush()
}

type message struct {
	isInput bool
	at      time.Time
	input   core.Input
	effects []core.Effect
}
