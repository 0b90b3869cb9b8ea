package podstream

import (
	"bytes"
	"errors"
	"io"
	"slices"
)

const (
	// minRead is the free space offered to each read, in bytes.
	minRead = 32 << 10
	// maxKept is the size of an empty buffer that is kept for what follows, in bytes: a huge list
	// at the beginning must not hold its memory for ever.
	maxKept = 1 << 20
	// maxPeek is how much of a line is looked at to tell what it is, in bytes.
	maxPeek = 256
	// maxEmptyReads bounds the reads in a row that bring neither data nor an error.
	maxEmptyReads = 100
)

// byteOrderMark may begin a file, and so stands in the middle of concatenated ones.
var byteOrderMark = []byte("\xEF\xBB\xBF")

// window is the part of the stream that was read and not released yet. It reads no further than it
// has to: an object is there as soon as its last byte is.
type window struct {
	in   io.Reader
	err  error // what ended the input; io.EOF included
	buf  []byte
	head int // buf[head:] is not released

	offset      int64 // of the first byte not released
	line        int64 // its line, from 1
	atLineStart bool
}

func newWindow(in io.Reader) window { return window{in: in, line: 1, atLineStart: true} }

// unreleased is valid until the next fill.
func (w *window) unreleased() []byte { return w.buf[w.head:] }

func (w *window) release(n int) {
	if n == 0 {
		return
	}
	gone := w.unreleased()[:n]
	w.head += n
	w.offset += int64(n)
	w.line += int64(bytes.Count(gone, []byte{'\n'}))
	w.atLineStart = gone[n-1] == '\n'
}

// fill adds at least one byte, or gives the error that ended the input.
func (w *window) fill() error {
	if w.err != nil {
		return w.err
	}
	w.makeRoom()
	for range maxEmptyReads {
		n, err := w.in.Read(w.buf[len(w.buf):cap(w.buf)])
		w.buf = w.buf[:len(w.buf)+n]
		w.err = err
		switch {
		case n > 0:
			return nil
		case err != nil:
			return err
		}
	}
	w.err = io.ErrNoProgress
	return w.err
}

// makeRoom moves what is not released only where something before it was: once per object at most.
func (w *window) makeRoom() {
	rest := w.unreleased()
	switch {
	case len(rest) == 0 && cap(w.buf) > maxKept:
		w.buf, w.head = nil, 0
	case w.head > 0:
		w.buf, w.head = w.buf[:copy(w.buf, rest)], 0
	}
	if cap(w.buf)-len(w.buf) < minRead {
		w.buf = slices.Grow(w.buf, max(minRead, len(w.buf)))
	}
}

// skipBlank releases white space and byte order marks. The error is that of the input, where it
// holds nothing else.
func (w *window) skipBlank() error {
	for {
		rest := bytes.TrimLeft(w.unreleased(), " \t\r\n")
		w.release(len(w.unreleased()) - len(rest))
		if bytes.HasPrefix(rest, byteOrderMark) {
			w.release(len(byteOrderMark))
			continue
		}
		if !bytes.HasPrefix(byteOrderMark, rest) {
			return nil
		}
		if err := w.fill(); err != nil {
			if len(rest) > 0 {
				return nil
			}
			return err
		}
	}
}

// peekLine gives the beginning of the line at which the window stands, without releasing anything: up
// to its end, maxPeek bytes or the end of the input. What is no object is only told apart by it, and
// is left behind at the end of its line at the earliest: nothing waits longer for it.
func (w *window) peekLine() []byte {
	for {
		rest := w.unreleased()
		if end := bytes.IndexByte(rest, '\n'); end >= 0 {
			return rest[:min(end, maxPeek)]
		}
		if len(rest) >= maxPeek || w.fill() != nil {
			return rest[:min(len(rest), maxPeek)]
		}
	}
}

// skipToObjectLine releases everything before the next line that starts with a brace, in bounded
// memory. The error is that of the input, where there is none.
func (w *window) skipToObjectLine() error {
	for {
		rest := w.unreleased()
		if w.atLineStart && len(rest) > 0 && rest[0] == '{' {
			return nil
		}
		if end := bytes.IndexByte(rest, '\n'); end >= 0 {
			w.release(end + 1)
			continue
		}
		w.release(len(rest))
		if err := w.fill(); err != nil {
			return err
		}
	}
}

var errTooLarge = errors.New("object too large")

// lookAhead reads on from the first byte not released, without releasing any.
type lookAhead struct {
	window *window
	at     int
	limit  int
}

func (l *lookAhead) Read(p []byte) (int, error) {
	if l.at >= l.limit {
		return 0, errTooLarge
	}
	if l.at == len(l.window.unreleased()) {
		if err := l.window.fill(); err != nil {
			return 0, err
		}
	}
	known := l.window.unreleased()
	n := copy(p, known[l.at:min(l.limit, len(known))])
	l.at += n
	return n, nil
}
