package inputlog

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/go-faster/jx"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// The records that hold no input.
const (
	kindRestart  = "restart"
	kindSnapshot = "snapshot"
	kindClosing  = "closing"
	kindStopped  = "stopped"
)

// isOtherKind reports whether records of the kind hold no input.
func isOtherKind(kind string) bool {
	return kind == kindRestart || kind == kindSnapshot || kind == kindClosing || kind == kindStopped
}

// record is a line other than the header. Which fields count depends on the kind.
type record struct {
	kind     string
	seq      uint64
	at       time.Time
	input    core.Input
	previous string
	reason   string
	run      Run
	version  version
	// last is the number of the last input before this record; version 1.0 did not tell.
	last    uint64
	hasLast bool
	// snapshot is without the configuration.
	snapshot core.Snapshot
}

func (r record) isInput() bool { return kindByName[r.kind] != nil }

func (e *encoder) input(seq uint64, at time.Time, input core.Input, previous string) {
	kind := findKind(input)
	e.json.ObjStart()
	e.json.FieldStart("seq")
	e.json.UInt64(seq)
	e.time(at)
	e.textField("kind", kind.name)
	e.json.FieldStart("input")
	kind.encode(e, input)
	e.textField("previous_effects", previous)
	e.json.ObjEnd()
}

func (e *encoder) restart(run Run, last uint64) {
	e.json.ObjStart()
	e.textField("kind", kindRestart)
	e.version()
	e.time(run.Started)
	e.textField("build", run.Build)
	e.json.FieldStart("config")
	e.config(run.Config)
	e.number("last", last)
	e.json.ObjEnd()
}

func (e *encoder) closing(at time.Time, last uint64, previous string) {
	e.json.ObjStart()
	e.textField("kind", kindClosing)
	e.time(at)
	e.number("last", last)
	e.textField("previous_effects", previous)
	e.json.ObjEnd()
}

func (e *encoder) stopped(at time.Time, reason string, last uint64, previous string) {
	e.json.ObjStart()
	e.textField("kind", kindStopped)
	e.time(at)
	e.textField("reason", reason)
	e.number("last", last)
	e.textField("previous_effects", previous)
	e.json.ObjEnd()
}

func (e *encoder) time(at time.Time) {
	e.json.FieldStart("time")
	var text [len(time.RFC3339Nano)]byte
	e.json.ByteStr(at.UTC().AppendFormat(text[:0], time.RFC3339Nano))
}

func decodeTime(json *jx.Decoder) (at time.Time, err error) {
	text, err := json.StrBytes()
	if err != nil {
		return at, err
	}
	if err := at.UnmarshalText(text); err != nil {
		return at, err
	}
	return at.UTC(), nil
}

// recordFields are the fields of all kinds of records; the constants are their places.
var recordFields = []string{
	"seq", "time", "kind", "input", "previous_effects", "reason", "build", "config", "version",
	"last", "state",
}

const (
	fieldSeq fieldSet = 1 << iota
	fieldTime
	fieldKind
	fieldInput
	fieldPrevious
	fieldReason
	fieldBuild
	fieldConfig
	fieldVersion
	fieldLast
	fieldState
)

// required are the fields that a record of the kind must have.
func required(kind string) fieldSet {
	switch kind {
	case kindRestart:
		return fieldKind | fieldTime | fieldBuild | fieldConfig
	case kindSnapshot:
		return fieldKind | fieldTime | fieldLast | fieldState
	case kindClosing:
		return fieldKind | fieldTime | fieldPrevious
	case kindStopped:
		return fieldKind | fieldTime | fieldPrevious | fieldReason
	default:
		return fieldKind | fieldSeq | fieldTime | fieldInput | fieldPrevious
	}
}

func (d *decoder) record(line []byte) (r record, err error) {
	json := &d.line
	json.ResetBytes(line)
	r.version = version{1, 0}
	var input jx.Raw
	seen, err := decodeFields(json, recordFields, func(field string) (err error) {
		if field == "input" {
			// Left for later: the kind may come after it.
			input, err = json.Raw()
			return err
		}
		return d.field(json, field, &r)
	})
	if err := cmp.Or(err, nothingFollows(json)); err != nil {
		return r, err
	}
	return r, d.finish(&r, seen, input)
}

func (d *decoder) field(json *jx.Decoder, field string, r *record) (err error) {
	switch field {
	case "kind":
		r.kind, err = d.texts.decode(json)
	case "seq":
		r.seq, err = json.UInt64()
	case "time":
		r.at, err = decodeTime(json)
	case "previous_effects":
		r.previous, err = decodeDigest(json)
	case "reason":
		r.reason, err = decodeText(json)
	case "build":
		r.run.Build, err = decodeText(json)
	case "config":
		r.run.Config, err = d.config(json)
	case "last":
		r.hasLast = true
		r.last, err = json.UInt64()
	case "version":
		r.version, err = decodeVersion(json)
	case "state":
		r.snapshot, err = d.state(json)
	}
	return err
}

// finish reads the input, once the kind is known and everything that has to be there is.
func (d *decoder) finish(r *record, seen fieldSet, input jx.Raw) (err error) {
	if seen&fieldKind == 0 {
		return errors.New("the record has no kind")
	}
	kind := kindByName[r.kind]
	if kind == nil && !isOtherKind(r.kind) {
		return fmt.Errorf("unknown record kind %.64q", r.kind)
	}
	if err := seen.missing(recordFields, required(r.kind)); err != nil {
		return fmt.Errorf("a record of kind %s: %w", r.kind, err)
	}
	r.run.Started = r.at
	if r.kind == kindSnapshot {
		d.known.restart(r.snapshot)
	}
	if kind == nil {
		return r.version.check()
	}
	d.nested.ResetBytes(input)
	if r.input, err = kind.decode(d, &d.nested); err != nil {
		return fmt.Errorf("input: %w", err)
	}
	return nil
}
