package inputlog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/go-faster/jx"
)

// ErrDamaged is wrapped where a log holds something that is no record of this format, other than a
// torn last line.
var ErrDamaged = errors.New("damaged input log")

// Reader reads a log, entry by entry. Not safe for concurrent use.
//
// A record holds the digest of the effects of the record before, so the reader stays one record
// ahead of what it gives out.
type Reader struct {
	lines   lineReader
	decoder *decoder
	// err is what Next answers once the ready entries are used up.
	err error

	ready     []Entry
	taken     int
	pending   Step
	isPending bool
	warnings  []Warning

	begun bool
	// summed tells that the lines of this run have checksums; sum is that of the last line.
	summed  bool
	sum     uint32
	closed  bool
	crlf    bool
	lastSeq uint64
	// whole is where the whole records end, in bytes; unended tells that the last of them has no
	// line ending.
	whole   int64
	unended bool
}

// NewReader reads a log from a source, from its header on.
func NewReader(source io.Reader) *Reader {
	return &Reader{lines: newLineReader(source), decoder: newDecoder()}
}

// Next gives the next entry. At the end of the log it answers io.EOF. An error that names the line
// wraps ErrDamaged, ErrNewerVersion or the source's error; everything before that line was given
// out, and the same error is answered ever after.
func (r *Reader) Next() (Entry, error) {
	for r.taken == len(r.ready) {
		if r.err != nil {
			return nil, r.err
		}
		r.ready, r.taken = r.ready[:0], 0
		if r.err = r.advance(); r.err != nil {
			r.release("")
		}
	}
	entry := r.ready[r.taken]
	r.ready[r.taken] = nil
	r.taken++
	return entry, nil
}

// advance reads one line.
func (r *Reader) advance() error {
	raw, err := r.lines.next()
	switch {
	case err == io.EOF:
		return r.end()
	case err != nil:
		return sourceError{r.lines.number + 1, err}
	}
	line := bytes.TrimRight(raw, padding)
	padded := bytes.IndexByte(raw[len(line):], 0) >= 0
	if padded && !r.lines.onlyPaddingFollows() {
		return r.damage(errors.New("it holds NUL bytes"))
	}
	if len(line) > 0 {
		if err := r.take(line); err != nil {
			return r.tornOr(err, line)
		}
		r.whole, r.unended = r.lines.end, false
	}
	switch ended := bytes.HasSuffix(raw, []byte("\n")); {
	case padded:
		r.cut(line)
		r.warn("NUL bytes at the end of the log, skipped")
		return io.EOF
	case !ended && len(line) > 0:
		r.cut(line)
		r.warn("the last line has no line ending; its record is whole")
	case bytes.HasSuffix(raw, []byte("\r\n")) && !r.crlf:
		r.crlf = true
		r.warn("the lines end in CRLF instead of LF; they are read all the same")
	}
	return nil
}

// cut notes that the whole records end with this line, and that it has no ending.
func (r *Reader) cut(line []byte) {
	if len(line) > 0 {
		r.whole, r.unended = r.lines.start+int64(len(line)), true
	}
}

// tornOr tells a torn last line, which is the beginning of a record, from damage.
func (r *Reader) tornOr(err error, line []byte) error {
	holdsAll := jx.DecodeBytes(line).Skip() == nil
	if holdsAll || !r.begun && !isTornHeader(line) || !r.lines.onlyPaddingFollows() {
		return r.damage(err)
	}
	r.warn("the last line is torn, skipped: its record was not written in full")
	return io.EOF
}

func (r *Reader) damage(err error) error {
	if errors.Is(err, ErrNewerVersion) {
		return fmt.Errorf("line %d: %w", r.lines.number, err)
	}
	// What a decoder wraps must not look like the end of the log, so its error is told, not wrapped.
	return fmt.Errorf("line %d: %w: %v", r.lines.number, ErrDamaged, err)
}

// sourceError is an error of the source, which never looks like the end of the log, whatever it
// wraps.
type sourceError struct {
	line int
	err  error
}

func (e sourceError) Error() string { return fmt.Sprintf("line %d: %v", e.line, e.err) }

// Is has errors.Is find everything in the error but io.EOF.
func (e sourceError) Is(target error) bool { return target != io.EOF && errors.Is(e.err, target) }

// As has errors.As find everything in the error.
func (e sourceError) As(target any) bool { return errors.As(e.err, target) }

func (r *Reader) end() error {
	if r.lines.number == 0 {
		r.lines.number = 1
		r.warn("the log is empty")
	}
	return io.EOF
}

// warn tells of the line last read, hence after the step that is pending: without it, its digest
// could not come any more.
func (r *Reader) warn(text string) {
	r.warnings = append(r.warnings, Warning{Line: r.lines.number, Text: text})
}

// release gives out the pending step, now that its digest is known or never will be, and what was
// said of its line.
func (r *Reader) release(digest string) {
	if r.isPending {
		r.pending.Digest = digest
		r.ready = append(r.ready, r.pending)
		r.pending, r.isPending = Step{}, false
	}
	for _, warning := range r.warnings {
		r.ready = append(r.ready, warning)
	}
	r.warnings = r.warnings[:0]
}

// take reads a whole line.
func (r *Reader) take(line []byte) error {
	if !utf8.Valid(line) {
		return errors.New("it is not valid UTF-8")
	}
	if !r.begun {
		run, version, err := r.decoder.header(line)
		if err != nil {
			return err
		}
		r.summed = version.hasSums()
		if r.sum, err = checkSum(line, 0, r.summed); err != nil {
			return err
		}
		r.begun = true
		r.ready = append(r.ready, Started{Line: r.lines.number, Run: run})
		return nil
	}
	record, err := r.decoder.record(line)
	if err != nil {
		return err
	}
	if err := r.checkPlace(record); err != nil {
		return err
	}
	if record.kind == kindRestart {
		r.summed = record.version.hasSums()
	}
	if r.sum, err = checkSum(line, r.sum, r.summed); err != nil {
		return err
	}
	r.takeRecord(record)
	return nil
}

// checkPlace finds out whether the record may follow those before it.
func (r *Reader) checkPlace(record record) error {
	switch {
	case r.closed && record.kind != kindRestart:
		return errors.New("a record follows the one that closes the run")
	case record.isInput() && record.seq != r.lastSeq+1:
		return fmt.Errorf("its seq is %d where %d is due", record.seq, r.lastSeq+1)
	}
	return nil
}

func (r *Reader) takeRecord(record record) {
	switch record.kind {
	case kindRestart:
		r.release("")
		r.decoder.restart()
		r.closed = false
		r.ready = append(r.ready,
			Started{Line: r.lines.number, Run: record.run, Restart: true})
	case kindClosing:
		r.release(record.previous)
		r.closed = true
	case kindStopped:
		r.release(record.previous)
		r.closed = true
		r.ready = append(r.ready,
			Stopped{Line: r.lines.number, At: record.at, Reason: record.reason})
	default:
		r.release(record.previous)
		r.lastSeq = record.seq
		r.isPending = true
		r.pending = Step{
			Line: r.lines.number, Seq: record.seq, At: record.at, Input: record.input,
		}
	}
}
