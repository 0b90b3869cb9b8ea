package podstream

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxObject bounds one object, in bytes: 512 MiB.
const maxObject = 512 << 20

// Reader reads Items from a stream. Not for concurrent use.
//
// Between whole objects there may be white space or nothing. Garbage and broken objects are
// skipped up to the next line that starts with a brace: kubectl prints its objects so. A truncated
// object costs only itself, even where it was cut at a place at which JSON allows the objects
// behind it as its parts.
type Reader struct {
	window    window
	maxObject int
	pending   []Item
	objects   int
	lost      bool // the next object is to be looked for at the beginning of a line
}

// NewReader reads from in, no further than the next Item needs.
func NewReader(in io.Reader) *Reader {
	return &Reader{window: newWindow(in), maxObject: maxObject}
}

// Next gives the next Item, as soon as the last byte of its object has arrived. The error is io.EOF
// at the end of input, or what the input's Read returned; it comes again with each further call.
func (r *Reader) Next() (Item, error) {
	for len(r.pending) == 0 {
		if err := r.advance(); err != nil {
			return nil, err
		}
	}
	item := r.pending[0]
	r.pending[0] = nil
	r.pending = r.pending[1:]
	return item, nil
}

// advance takes up one object or one stretch of garbage.
func (r *Reader) advance() error {
	seek := r.window.skipBlank
	if r.lost {
		seek = r.window.skipToObjectLine
	}
	if err := seek(); err != nil {
		return err
	}
	r.lost = r.window.unreleased()[0] != '{'
	if r.lost {
		what := looksLike(r.window.peekLine())
		r.pending = append(r.pending, r.begin().problem("not a JSON object%s", what))
		return nil
	}
	length, fault, err := r.frame()
	if err != nil {
		return err
	}
	at := r.begin()
	if fault == "" {
		r.pending = append(r.pending, interpret(at, r.window.unreleased()[:length])...)
		r.window.release(length)
		return nil
	}
	readable := r.window.unreleased()[:length]
	r.pending = append(r.pending, at.problem("%s at byte %d, line %d%s", fault,
		at.offset+int64(length), at.line+int64(bytes.Count(readable, []byte{'\n'})),
		looksLike(r.window.unreleased()[:min(length+1, len(r.window.unreleased()))])))
	r.skipBroken(readable)
	return nil
}

// begin numbers the object at which the window stands.
func (r *Reader) begin() place {
	r.objects++
	return place{object: r.objects, offset: r.window.offset, line: r.window.line}
}

// frame finds the end of the object at which the window stands. With a fault, the object is broken
// and length is that of its readable part, at least 1.
func (r *Reader) frame() (length int, fault string, err error) {
	source := &lookAhead{window: &r.window, limit: r.maxObject}
	decoder := json.NewDecoder(source)
	err = decoder.Decode(&framed{})
	syntax := (*json.SyntaxError)(nil)
	switch {
	case err == nil:
		return int(decoder.InputOffset()), "", nil
	case errors.Is(err, errTooLarge):
		return source.at, fmt.Sprintf("larger than %d MiB", r.maxObject>>20), nil
	case r.window.err == io.EOF && errors.Is(err, io.ErrUnexpectedEOF):
		return source.at, "cut off by the end of input", nil
	case errors.As(err, &syntax):
		// Offset counts the byte that does not fit.
		return min(max(1, int(syntax.Offset)-1), source.at), "broken JSON", nil
	}
	return 0, "", err
}

// framed makes the decoder check the syntax and keep nothing.
type framed struct{}

func (*framed) UnmarshalJSON([]byte) error { return nil }

// skipBroken takes up what is whole inside the readable part of a broken object, and leaves the
// window behind that part. If that ends with a whole object, the stream is in step again.
func (r *Reader) skipBroken(readable []byte) {
	done := 0
	for _, object := range wholeObjects(readable) {
		r.window.release(object.start - done)
		r.pending = append(r.pending, interpret(r.begin(), readable[object.start:object.end])...)
		r.window.release(object.end - object.start)
		done = object.end
	}
	r.lost = done == 0 || len(bytes.TrimSpace(readable[done:])) > 0
	r.window.release(len(readable) - done)
}

// place is where an object begins.
type place struct {
	object       int
	offset, line int64
}

func (p place) problem(format string, args ...any) Problem {
	return Problem{
		Object: p.object, Offset: p.offset, Line: p.line, Text: fmt.Sprintf(format, args...),
	}
}
