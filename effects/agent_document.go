package effects

import (
	"bytes"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// agentDocument is what discovery reads of an agent's document: the JSON values of four fields.
// All others are skipped.
type agentDocument struct {
	apiVersion  field
	haproxy     field
	version     field
	fullVersion field
}

// field is the JSON value of a field, as written; nil where the document has no such field.
type field jsontext.Value

// maxFieldBytes is the longest JSON text of a version that is not too long, all of it escaped.
const maxFieldBytes = len(`""`) + len(`\u0000`)*core.MaxVersionLength

var (
	errNotAnObject  = failed(core.CauseInvalidDocument, "the body is not one JSON object")
	errIncomplete   = failed(core.CauseInvalidDocument, "the JSON document is incomplete")
	errRepeated     = failed(core.CauseInvalidDocument, "a field appears twice in the document")
	errNoAPIVersion = failed(core.CauseInvalidDocument, "api_version is missing or no integer")
	errAPIVersion   = failed(core.CauseUnsupportedAPIVersion, "api_version is not 1")
	errHAProxy      = failed(core.CauseInvalidDocument, "haproxy is not an object")
)

// parseDocument reads the whole body as one JSON object. Names match exactly, letter case
// included, and a field that is read must not appear twice: two readers of the same document must
// not understand it differently. All others may hold whatever is JSON by its grammar: names that
// repeat, text that is no Unicode, numbers of any size. The JSON library bounds the depth, at 10,000.
func parseDocument(body []byte) (agentDocument, error) {
	var document agentDocument
	decoder := jsontext.NewDecoder(bytes.NewBuffer(body),
		jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	err := document.read(decoder)
	if err == nil && !atEnd(decoder) {
		err = errNotAnObject
	}
	var known failure
	switch {
	case err == nil:
		return document, nil
	case errors.As(err, &known):
		return agentDocument{}, known
	case errors.Is(err, io.ErrUnexpectedEOF):
		return agentDocument{}, errIncomplete
	default:
		return agentDocument{}, errNotAnObject
	}
}

func atEnd(decoder *jsontext.Decoder) bool {
	_, err := decoder.ReadToken()
	return err == io.EOF
}

func (d *agentDocument) read(decoder *jsontext.Decoder) error {
	return readObject(decoder, func(name string) error {
		switch name {
		case "api_version":
			return d.apiVersion.read(decoder)
		case "haproxy":
			return d.readHAProxy(decoder)
		default:
			return decoder.SkipValue()
		}
	})
}

func (d *agentDocument) readHAProxy(decoder *jsontext.Decoder) error {
	if decoder.PeekKind() != '{' {
		return d.haproxy.read(decoder)
	}
	if d.haproxy != nil {
		return errRepeated
	}
	d.haproxy = field("{}")
	return readObject(decoder, func(name string) error {
		switch name {
		case "version":
			return d.version.read(decoder)
		case "full_version":
			return d.fullVersion.read(decoder)
		default:
			return decoder.SkipValue()
		}
	})
}

// readObject calls readValue for each name; it has to take the value off the decoder.
func readObject(decoder *jsontext.Decoder, readValue func(name string) error) error {
	opening, err := decoder.ReadToken()
	if err != nil {
		return err
	}
	if opening.Kind() != '{' {
		return errNotAnObject
	}
	for {
		name, err := decoder.ReadToken()
		if err != nil {
			return err
		}
		if name.Kind() == '}' {
			return nil
		}
		if err := readValue(name.String()); err != nil {
			return err
		}
	}
}

// read keeps the start of a value that is longer than any good one.
func (f *field) read(decoder *jsontext.Decoder) error {
	value, err := decoder.ReadValue()
	switch {
	case err != nil:
		return err
	case *f != nil:
		return errRepeated
	}
	*f = field(bytes.Clone(value[:min(len(value), maxFieldBytes+1)]))
	return nil
}

// answer judges the document. The API version comes first: another one may mean all else
// differently. A haproxy field that is missing or null is an agent that does not know its HAProxy
// yet (R13).
func (d agentDocument) answer(sent []core.Credentials) (core.Answer, error) {
	switch {
	case !isInteger(d.apiVersion):
		return core.Answer{}, errNoAPIVersion
	case string(d.apiVersion) != "1":
		return core.Answer{}, errAPIVersion
	case !d.haproxy.missing() && d.haproxy[0] != '{':
		return core.Answer{}, errHAProxy
	}
	version, err := versionText("version", d.version)
	if err != nil {
		return core.Answer{}, err
	}
	fullVersion, err := versionText("full_version", d.fullVersion)
	if err != nil {
		return core.Answer{}, err
	}
	if repeatsAny(version+fullVersion, sent) {
		return core.Answer{}, failed(core.CauseInvalidDocument, "haproxy repeats the credentials")
	}
	return core.Answer{Version: version, FullVersion: fullVersion}, nil
}

func (f field) missing() bool { return f == nil || string(f) == "null" }

// isInteger takes 1.0 and 1e0 for no integers, like most readers of JSON.
func isInteger(f field) bool {
	return jsontext.Value(f).Kind() == '0' && !bytes.ContainsAny(f, ".eE")
}
