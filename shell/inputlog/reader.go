package inputlog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/go-faster/jx"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// ErrDamaged is wrapped where a log holds something that is no record of this format, other than a
// torn last line.
var ErrDamaged = errors.New("damaged input log")

// Reader reads a log, entry by entry: each as soon as its line is there. Not safe for concurrent use.
type Reader struct {
	lines   lineReader
	decoder *decoder
	// err is what Next answers once the ready entries are used up.
	err error

	ready []Entry
	taken int

	begun  bool
	closed bool
	// summed tells that the lines of this run have checksums; sum is that of the last line.
	summed  bool
	sum     uint32
	crlf    bool
	lastSeq uint64
	// config is that of the run, and fresh tells that nothing of the run was read yet.
	config core.Config
	fresh  bool
	// whole is where the whole records end, in bytes; unended tells that the last of them has no
	// line ending.
	whole   int64
	unended bool
}

// NewReader reads a log from a source, from its header on.
func NewReader(source io.Reader) *Reader {
	return &Reader{lines: newLineReader(source), decoder: newDecoder()}
}

// Next gives the next entry. At the end of the log it answers io.EOF, and no other error looks like
// it to errors.Is. An error that names the line wraps ErrDamaged or ErrNewerVersion, or is the
// source's; everything before that line was given out, and the same error is answered ever after.
func (r *Reader) Next() (Entry, error) {
	for r.taken == len(r.ready) {
		if r.err != nil {
			return nil, r.err
		}
		r.ready, r.taken = r.ready[:0], 0
		if r.err = r.advance(); r.err == io.EOF {
			r.endRun()
		}
	}
	entry := r.ready[r.taken]
	r.ready[r.taken] = nil
	r.taken++
	return entry, nil
}

func (r *Reader) give(entry Entry) { r.ready = append(r.ready, entry) }

// advance reads one line.
func (r *Reader) advance() error {
	raw, err := r.lines.next()
	switch {
	case err == io.EOF:
		return r.end()
	case err == errLongLine:
		return r.damage(err)
	case err != nil:
		return sourceError{r.lines.number + 1, err}
	}
	line := bytes.TrimRight(raw, padding)
	padded := bytes.IndexByte(raw[len(line):], 0) >= 0
	if padded {
		if last, err := r.lines.onlyPaddingFollows(); err != nil {
			return sourceError{r.lines.number, err}
		} else if !last {
			return r.damage(errors.New("it holds NUL bytes"))
		}
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
	if holdsAll || !r.begun && !isTornHeader(line) {
		return r.damage(err)
	}
	last, readErr := r.lines.onlyPaddingFollows()
	switch {
	case readErr != nil:
		return sourceError{r.lines.number, readErr}
	case !last:
		return r.damage(err)
	}
	r.warn("the last line is torn, skipped: it holds no whole record")
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

func (r *Reader) warn(text string) { r.give(Warning{Line: r.lines.number, Text: text}) }

// take reads a whole line.
func (r *Reader) take(line []byte) error {
	if !r.begun && bytes.HasPrefix(line, []byte("\x1f\x8b")) {
		return errors.New("it is compressed by gzip: decompress it, or read what zcat prints of it")
	}
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
		r.config, r.fresh = run.Config, true
		r.give(Started{Line: r.lines.number, Run: run})
		return nil
	}
	record, err := r.decoder.record(line)
	if err != nil {
		return err
	}
	if err := r.checkPlace(record); err != nil {
		return err
	}
	var restored core.State
	if record.kind == kindSnapshot {
		record.snapshot.Config = r.config
		if restored, err = core.Restore(record.snapshot); err != nil {
			return err
		}
	}
	if record.kind == kindRestart {
		r.summed = record.version.hasSums()
	}
	if r.sum, err = checkSum(line, r.sum, r.summed); err != nil {
		return err
	}
	r.takeRecord(record, restored)
	return nil
}

// checkPlace finds out whether the record may follow those before it.
func (r *Reader) checkPlace(record record) error {
	switch {
	case r.closed && record.kind != kindRestart:
		return errors.New("a record follows the one that closes the run")
	case record.kind == kindSnapshot && !r.fresh:
		return errors.New("a snapshot stands elsewhere than at the beginning of a run")
	case record.kind == kindSnapshot && record.last < r.lastSeq:
		return fmt.Errorf("its last is %d, which is less than the %d before", record.last, r.lastSeq)
	case record.kind == kindSnapshot:
		return nil
	case record.isInput() && record.seq != r.lastSeq+1:
		return fmt.Errorf("its seq is %d where %d is due", record.seq, r.lastSeq+1)
	case !record.hasLast || record.last == r.lastSeq:
		return nil
	case record.last < r.lastSeq:
		return fmt.Errorf("it says that input %d was the last, and input %d stands before it",
			record.last, r.lastSeq)
	case record.kind == kindStopped: // it may tell of inputs that could not be written
		return nil
	case record.last == r.lastSeq+1:
		return fmt.Errorf("input %d is missing before it", record.last)
	}
	return fmt.Errorf("inputs %d to %d are missing before it", r.lastSeq+1, record.last)
}

func (r *Reader) takeRecord(record record, restored core.State) {
	r.fresh = record.kind == kindRestart
	if record.previous != "" {
		r.give(Reduced{Line: r.lines.number, Seq: r.lastSeq, Digest: record.previous})
	}
	switch record.kind {
	case kindRestart:
		r.endRun()
		r.decoder.restart()
		r.closed = false
		r.config = record.run.Config
		r.give(Started{Line: r.lines.number, Run: record.run, Restart: true})
	case kindSnapshot:
		r.lastSeq = record.last
		r.give(Snapshot{
			Line: r.lines.number, At: record.at, Last: record.last, State: restored,
		})
	case kindClosing:
		r.closed = true
		r.give(Ended{Line: r.lines.number, At: record.at})
	case kindStopped:
		r.closed = true
		r.give(Stopped{
			Line: r.lines.number, At: record.at, Reason: record.reason,
			Lost: max(record.last, r.lastSeq) - r.lastSeq,
		})
		r.lastSeq = max(record.last, r.lastSeq) // the lost ones are accounted for
	default:
		r.lastSeq = record.seq
		r.give(Step{Line: r.lines.number, Seq: record.seq, At: record.at, Input: record.input})
	}
}

// endRun tells of a run that ends here without a record that says so.
func (r *Reader) endRun() {
	if r.begun && !r.closed {
		r.give(Ended{Line: r.lines.number, Killed: true})
	}
}
