package inputlog

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// lineReader reads lines of any length; its memory is bounded by the longest one.
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
	if errors.Is(err, bufio.ErrBufferFull) {
		l.buffer = l.buffer[:0]
		for errors.Is(err, bufio.ErrBufferFull) {
			l.buffer = append(l.buffer, line...)
			line, err = l.source.ReadSlice('\n')
		}
		l.buffer = append(l.buffer, line...)
		line = l.buffer
	}
	if err != nil && err != io.EOF || len(line) == 0 {
		return nil, err
	}
	l.number++
	l.start, l.end = l.end, l.end+int64(len(line))
	return line, nil
}

// padding is what may follow the last record without being a record: the NUL bytes of a file that
// was extended before a crash, and white space.
const padding = "\x00 \t\r\n"

// onlyPaddingFollows consumes the rest.
func (l *lineReader) onlyPaddingFollows() bool {
	for {
		rest, err := l.source.ReadSlice('\n')
		if len(bytes.Trim(rest, padding)) > 0 {
			return false
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return err == io.EOF
		}
	}
}
