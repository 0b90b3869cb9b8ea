package inputlog

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-faster/jx"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// The records that hold no input.
const (
	kindRestart = "restart"
	kindClosing = "closing"
	kindStopped = "stopped"
)

// record is a line other than the header. Which fields count depends on the kind.
type record struct {
	kind     string
	seq      uint64
	at       time.Time
	input    core.Input
	previous string
	reason   string
	run      Run
}

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

func (e *encoder) restart(run Run) {
	e.json.ObjStart()
	e.textField("kind", kindRestart)
	e.time(run.Started)
	e.textField("build", run.Build)
	e.json.FieldStart("config")
	e.config(run.Config)
	e.json.ObjEnd()
}

func (e *encoder) closing(at time.Time, previous string) {
	e.json.ObjStart()
	e.textField("kind", kindClosing)
	e.time(at)
	e.textField("previous_effects", previous)
	e.json.ObjEnd()
}

func (e *encoder) stopped(at time.Time, reason, previous string) {
	e.json.ObjStart()
	e.textField("kind", kindStopped)
	e.time(at)
	e.textField("reason", reason)
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

// fieldSet is a set of a record's fields.
type fieldSet uint8

const (
	fieldKind fieldSet = 1 << iota
	fieldSeq
	fieldTime
	fieldInput
	fieldPrevious
	fieldReason
	fieldBuild
	fieldConfig
)

var fieldNames = map[string]fieldSet{
	"kind": fieldKind, "seq": fieldSeq, "time": fieldTime, "input": fieldInput,
	"previous_effects": fieldPrevious, "reason": fieldReason, "build": fieldBuild,
	"config": fieldConfig,
}

// required are the fields that a record of the kind must have.
func required(kind string) fieldSet {
	switch kind {
	case kindRestart:
		return fieldKind | fieldTime | fieldBuild | fieldConfig
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
	fields, err := json.ObjIter()
	if err != nil {
		return r, err
	}
	var (
		seen  fieldSet
		input jx.Raw
	)
	for fields.Next() {
		field := fieldNames[string(fields.Key())]
		seen |= field
		if field == fieldInput {
			// Left for later: the kind may come after it.
			input, err = json.Raw()
		} else {
			err = d.field(json, field, &r)
		}
		if err != nil {
			return r, err
		}
	}
	if err := cmp.Or(fields.Err(), nothingFollows(json)); err != nil {
		return r, err
	}
	if err := d.finish(&r, seen, input); err != nil {
		return r, err
	}
	return r, nil
}

func (d *decoder) field(json *jx.Decoder, field fieldSet, r *record) (err error) {
	switch field {
	case fieldKind:
		r.kind, err = d.texts.decode(json)
	case fieldSeq:
		r.seq, err = json.UInt64()
	case fieldTime:
		r.at, err = decodeTime(json)
	case fieldPrevious:
		r.previous, err = decodeDigest(json)
	case fieldReason:
		r.reason, err = decodeText(json)
	case fieldBuild:
		r.run.Build, err = decodeText(json)
	case fieldConfig:
		r.run.Config, err = d.config(json)
	default:
		err = json.Skip()
	}
	return err
}

// finish reads the input, once the kind is known and everything that has to be there is.
func (d *decoder) finish(r *record, seen fieldSet, input jx.Raw) (err error) {
	if seen&fieldKind == 0 {
		return errors.New("the record has no kind")
	}
	kind := kindByName[r.kind]
	isInput := kind != nil
	if !isInput && r.kind != kindRestart && r.kind != kindClosing && r.kind != kindStopped {
		return fmt.Errorf("unknown record kind %.64q", r.kind)
	}
	if missing := required(r.kind) &^ seen; missing != 0 {
		return fmt.Errorf("the %s record lacks a field it must have: %s", r.kind, missing)
	}
	r.run.Started = r.at
	if !isInput {
		return nil
	}
	d.nested.ResetBytes(input)
	r.input, err = kind.decode(d, &d.nested)
	return err
}

func (f fieldSet) String() string {
	var names []string
	for name, field := range fieldNames {
		if f&field != 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
