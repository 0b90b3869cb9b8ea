package inputlog

import (
	"errors"
	"math/bits"

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

var probeFinishedFields = []string{"probe", "outcome"}

func (d *decoder) probeFinished(json *jx.Decoder) (input core.ProbeFinished, err error) {
	err = decodeObject(json, probeFinishedFields, func(field string) (err error) {
		switch field {
		case "probe":
			input.Probe, err = numberAs[core.ProbeID](json.UInt64())
		case "outcome":
			input.Outcome, err = d.outcome(json)
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

var outcomeFields = []string{"answer", "failure"}

func (d *decoder) outcome(json *jx.Decoder) (outcome core.Outcome, err error) {
	if json.Next() == jx.Null {
		return nil, json.Null()
	}
	seen, err := decodeFields(json, outcomeFields, func(field string) (err error) {
		switch field {
		case "answer":
			outcome, err = d.answer(json)
		case "failure":
			outcome, err = d.failure(json)
		}
		return err
	})
	if err == nil && bits.OnesCount16(uint16(seen)) != 1 {
		err = errors.New("it is neither an answer nor a failure")
	}
	return outcome, err
}

var answerFields = []string{"version", "full_version"}

func (d *decoder) answer(json *jx.Decoder) (answer core.Answer, err error) {
	err = decodeObject(json, answerFields, func(field string) (err error) {
		switch field {
		case "version":
			answer.Version, err = d.texts.decode(json)
		case "full_version":
			answer.FullVersion, err = d.texts.decode(json)
		}
		return err
	})
	return answer, err
}

var failureFields = []string{"cause", "detail"}

func (d *decoder) failure(json *jx.Decoder) (failure core.Failure, err error) {
	err = decodeObject(json, failureFields, func(field string) (err error) {
		switch field {
		case "cause":
			failure.Cause, err = textAs[core.Cause](d.texts.decode(json))
		case "detail":
			failure.Detail, err = decodeText(json)
		}
		return err
	})
	return failure, err
}
