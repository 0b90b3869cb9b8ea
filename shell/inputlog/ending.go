package inputlog

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-faster/jx"
)

// ending is what has to be known of a log to append to it. It is found by reading the header and the
// last records, however long the log is; damage in between is left to those who read the log.
type ending struct {
	// begun reports whether there is a header. Without one there is nothing to append to.
	begun bool
	// whole is where the whole records end, in bytes; unended tells that the last of them has no line
	// ending.
	whole   int64
	unended bool
	// seq is the number of the last input, sum the checksum of the last line.
	seq uint64
	sum uint32
}

// errForeign is wrapped where a file is no log that can be appended to.
var errForeign = errors.New("it is not a log that can be appended to")

const (
	// maxHeader bounds what is read of a first line, in bytes.
	maxHeader = 64 << 10
	// blockSize is how much is read at a time, from the end on.
	blockSize = 64 << 10
)

// hole is a block of what was never written.
var hole [blockSize]byte

// readEnding finds the ending of a file. The error wraps errForeign if the file is no log, is in a
// newer format or is damaged at its end: more than the last record is torn.
func readEnding(file io.ReaderAt, size int64) (ending, error) {
	f := fileEnd{file}
	content, err := f.contentEnd(size)
	if err != nil || content == 0 {
		return ending{}, err
	}
	header, err := f.header(size)
	if err != nil || header == nil {
		return ending{}, err
	}
	for torn := 0; ; torn++ {
		start, err := f.lineStart(content)
		if err != nil {
			return ending{}, err
		}
		record, err := f.record(start, content)
		if err == nil {
			e := ending{begun: true, sum: record.sum}
			if e.whole, e.unended, err = f.lineEnd(content, size); err != nil {
				return ending{}, err
			}
			e.seq, err = f.lastSeq(record, start)
			return e, err
		}
		if !errors.Is(err, errNoRecord) || torn > 0 || start == 0 {
			return ending{}, fmt.Errorf("%w: its end: %w", errForeign, err)
		}
		if content, err = f.contentEnd(start); err != nil {
			return ending{}, err
		}
	}
}

// fileEnd reads a file from its end on, in bounded memory.
type fileEnd struct{ io.ReaderAt }

// header gives the first line; nil where the whole file is what is left of one.
func (f fileEnd) header(size int64) ([]byte, error) {
	start := make([]byte, min(size, maxHeader))
	if _, err := f.ReadAt(start, 0); err != nil && err != io.EOF {
		return nil, err
	}
	line, _, ended := bytes.Cut(start, []byte("\n"))
	line = bytes.TrimRight(line, padding)
	if _, err := checkFormat(line); err != nil {
		if !ended && int64(len(start)) == size && isTornHeader(line) {
			return nil, nil
		}
		return nil, fmt.Errorf("%w: line 1: %w", errForeign, err)
	}
	return line, nil
}

// backwards calls back for each block before an end, the last one first, until that answers false.
func (f fileEnd) backwards(end int64, each func(block []byte, start int64) bool) error {
	buffer := make([]byte, blockSize)
	for end > 0 {
		start := max(0, end-blockSize)
		block := buffer[:end-start]
		if _, err := f.ReadAt(block, start); err != nil && err != io.EOF {
			return err
		}
		if !each(block, start) {
			return nil
		}
		end = start
	}
	return nil
}

// contentEnd is where what is more than padding ends, before an end.
func (f fileEnd) contentEnd(end int64) (content int64, err error) {
	err = f.backwards(end, func(block []byte, start int64) bool {
		if bytes.Equal(block, hole[:len(block)]) { // which trimming would be slow at
			return true
		}
		trimmed := len(bytes.TrimRight(block, padding))
		content = start + int64(trimmed)
		return trimmed == 0
	})
	if content > 0 || err != nil {
		return content, err
	}
	return 0, nil
}

// lineStart is where the line begins that goes on up to an end.
func (f fileEnd) lineStart(end int64) (at int64, err error) {
	err = f.backwards(end, func(block []byte, start int64) bool {
		i := bytes.LastIndexByte(block, '\n')
		if i >= 0 {
			at = start + int64(i) + 1
		}
		return i < 0
	})
	return at, err
}

// lineEnd is where the line ends whose content ends there, with its line ending if it has one.
func (f fileEnd) lineEnd(content, size int64) (end int64, unended bool, err error) {
	rest := make([]byte, min(2, size-content))
	if _, err := f.ReadAt(rest, content); err != nil && err != io.EOF {
		return 0, false, err
	}
	switch {
	case bytes.HasPrefix(rest, []byte("\n")):
		return content + 1, false, nil
	case bytes.HasPrefix(rest, []byte("\r\n")):
		return content + 2, false, nil
	default:
		return content, true, nil
	}
}

// numbered is what a line says of the numbers of inputs.
type numbered struct {
	kind  string
	known bool
	seq   uint64
	sum   uint32
}

// errNoRecord is wrapped where a line is not whole, or no record.
var errNoRecord = errors.New("it is no whole record")

// record reads a line of any length, without its input.
func (f fileEnd) record(start, end int64) (n numbered, err error) {
	isHeader := start == 0
	json := jx.Decode(io.NewSectionReader(f, start, end-start), blockSize)
	err = json.ObjBytes(func(json *jx.Decoder, field []byte) (err error) {
		switch {
		case string(field) == "kind" && !isHeader:
			n.kind, err = json.Str()
		case (string(field) == "seq" || string(field) == "last") && !isHeader:
			n.known = true
			n.seq, err = json.UInt64()
		default:
			err = json.Skip()
		}
		return err
	})
	if err == nil {
		err = nothingFollows(json)
	}
	if err != nil {
		return n, fmt.Errorf("%w: %v", errNoRecord, err)
	}
	if kindByName[n.kind] == nil && !isOtherKind(n.kind) && !isHeader {
		return n, fmt.Errorf("unknown record kind %.64q", n.kind)
	}
	n.known = n.known || isHeader
	tail := make([]byte, min(end-start, int64(len(sumStart)+sumDigits+len(sumEnd))))
	if _, err := f.ReadAt(tail, end-int64(len(tail))); err != nil && err != io.EOF {
		return n, err
	}
	_, n.sum, _ = cutSum(tail)
	return n, nil
}

// lastSeq looks further back where the last record, one of version 1.0, does not tell it.
func (f fileEnd) lastSeq(last numbered, start int64) (uint64, error) {
	for !last.known {
		content, err := f.contentEnd(start)
		if err != nil {
			return 0, err
		}
		if start, err = f.lineStart(content); err != nil {
			return 0, err
		}
		if last, err = f.record(start, content); err != nil {
			return 0, fmt.Errorf("%w: its end: %w", errForeign, err)
		}
	}
	return last.seq, nil
}
