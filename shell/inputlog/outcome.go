package inputlog

import (
	"github.com/go-faster/jx"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

func (e *encoder) probeFinished(input core.ProbeFinished) {
	e.json.ObjStart()
	e.json.FieldStart("probe")
	e.json.UInt64(uint64(input.Probe))
	e.json.FieldStart("outcome")
	e.outcome(input.Outcome)
	e.json.ObjEnd()
}

func (d *decoder) probeFinished(json *jx.Decoder) (input core.ProbeFinished, err error) {
	err = decodeObject(json, 2, func(field []byte) (err error) {
		switch string(field) {
		case "probe":
			input.Probe, err = numberAs[core.ProbeID](json.UInt64())
		case "outcome":
			input.Outcome, err = d.outcome(json)
		default:
			err = errUnknownField
		}
		return err
	})
	return input, err
}

// outcome is null where there is none: the reducer has to cope with that, and so does the log.
func (e *encoder) outcome(outcome core.Outcome) {
	switch outcome := outcome.(type) {
	case core.Answer:
		e.json.ObjStart()
		e.json.FieldStart("answer")
		e.json.ObjStart()
		e.textField("version", outcome.Version)
		e.textField("full_version", outcome.FullVersion)
		e.json.ObjEnd()
		e.json.ObjEnd()
	case core.Failure:
		e.json.ObjStart()
		e.json.FieldStart("failure")
		e.json.ObjStart()
		e.textField("cause", string(outcome.Cause))
		e.textField("detail", outcome.Detail)
		e.json.ObjEnd()
		e.json.ObjEnd()
	default:
		e.json.Null()
	}
}

func (d *decoder) outcome(json *jx.Decoder) (outcome core.Outcome, err error) {
	if json.Next() == jx.Null {
		return nil, json.Null()
	}
	err = decodeObject(json, 1, func(field []byte) (err error) {
		switch string(field) {
		case "answer":
			outcome, err = d.answer(json)
		case "failure":
			outcome, err = d.failure(json)
		default:
			err = errUnknownField
		}
		return err
	})
	return outcome, err
}

func (d *decoder) answer(json *jx.Decoder) (answer core.Answer, err error) {
	err = decodeObject(json, 2, func(field []byte) (err error) {
		switch string(field) {
		case "version":
			answer.Version, err = d.texts.decode(json)
		case "full_version":
			answer.FullVersion, err = d.texts.decode(json)
		default:
			err = errUnknownField
		}
		return err
	})
	return answer, err
}

func (d *decoder) failure(json *jx.Decoder) (failure core.Failure, err error) {
	err = decodeObject(json, 2, func(field []byte) (err error) {
		switch string(field) {
		case "cause":
			failure.Cause, err = textAs[core.Cause](d.texts.decode(json))
		case "detail":
			failure.Detail, err = decodeText(json)
		default:
			err = errUnknownField
		}
		return err
	})
	return failure, err
}
