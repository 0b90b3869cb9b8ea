package inputlog

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// maxLine bounds the memory that a log of any content can take, in bytes. A list of half a million
// pods fits.
const maxLine = 256 << 20

var errLongLine = fmt.Errorf("it is longer than %d MiB", maxLine>>20)

// lineReader reads lines; its memory is bounded by the longest one.
type lineReader struct {
	source *bufio.Reader
	buffer []byte
	// number is that of the line last read, from 1; start and end are its place in bytes.
	number     int
	start, end int64
}

func newLineReader(source io.Reader) lineReader {
	return lineReader{source: bufio.NewReaderSize(source, 64<<10)}
}

// next reads a line, its ending included; only the last line can be without. The slice is valid
// until the next call. io.EOF where there is no more.
func (l *lineReader) next() ([]byte, error) {
	line, err := l.source.ReadSlice('\n')
	length := len(line)
	if errors.Is(err, bufio.ErrBufferFull) {
		l.buffer = l.buffer[:0]
		for errors.Is(err, bufio.ErrBufferFull) {
			l.collect(line)
			if len(l.buffer) > maxLine {
				l.number++
				return nil, errLongLine
			}
			line, err = l.source.ReadSlice('\n')
			length += len(line)
		}
		l.collect(line)
		line = l.buffer
	}
	if err != nil && err != io.EOF || len(line) == 0 {
		return nil, err
	}
	l.number++
	l.start, l.end = l.end, l.end+int64(length)
	return line, nil
}

// collect appends a piece of a line. Of NUL bytes that go on from the piece before, none is kept: a
// file may end in any number of them, and anywhere else one is damage as well as many.
func (l *lineReader) collect(piece []byte) {
	if bytes.HasSuffix(l.buffer, []byte{0}) {
		piece = bytes.TrimLeft(piece, "\x00")
	}
	l.buffer = append(l.buffer, piece...)
}

// padding is what may follow the last record without being a record: the NUL bytes of a file that
// was extended before a crash, and white space.
const padding = "\x00 \t\r\n"

// onlyPaddingFollows consumes the rest. The error is the source's.
func (l *lineReader) onlyPaddingFollows() (bool, error) {
	for {
		rest, err := l.source.ReadSlice('\n')
		switch {
		case len(bytes.Trim(rest, padding)) > 0:
			return false, nil
		case err == io.EOF:
			return true, nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return false, err
		}
	}
}
