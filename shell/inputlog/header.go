package inputlog

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"

	"github.com/go-faster/jx"
)

const (
	formatName = "haproxy-discovery input log"
	// A reader refuses a log of a newer major version, and reads one of a newer minor version:
	// that adds nothing but fields.
	majorVersion = 1
	minorVersion = 0
)

// headerStart is how the first line of every log begins, whatever its version.
const headerStart = `{"format":"` + formatName + `"`

// ErrNewerVersion is wrapped where a log was written in a newer major version of the format.
var ErrNewerVersion = errors.New("newer version of the input log format")

func (e *encoder) header(run Run) {
	e.json.ObjStart()
	e.textField("format", formatName)
	e.json.FieldStart("version")
	e.json.ObjStart()
	e.json.FieldStart("major")
	e.json.Int(majorVersion)
	e.json.FieldStart("minor")
	e.json.Int(minorVersion)
	e.json.ObjEnd()
	e.textField("build", run.Build)
	e.time(run.Started)
	e.json.FieldStart("config")
	e.config(run.Config)
	e.json.ObjEnd()
}

// header looks at format and version first: in another major version, anything else may differ.
func (d *decoder) header(line []byte) (run Run, err error) {
	if err := checkFormat(line); err != nil {
		return Run{}, err
	}
	json := jx.DecodeBytes(line)
	err = decodeObject(json, 3, func(field []byte) (err error) {
		switch string(field) {
		case "build":
			run.Build, err = decodeText(json)
		case "time":
			run.Started, err = decodeTime(json)
		case "config":
			run.Config, err = d.config(json)
		default:
			err = errUnknownField
		}
		return err
	})
	return run, err
}

func checkFormat(line []byte) error {
	var (
		format       string
		major, minor int
	)
	json := jx.DecodeBytes(line)
	err := decodeObject(json, 2, func(field []byte) (err error) {
		switch string(field) {
		case "format":
			format, err = decodeText(json)
		case "version":
			major, minor, err = decodeVersion(json)
		default:
			err = errUnknownField
		}
		return err
	})
	switch err := cmp.Or(err, nothingFollows(json)); {
	case err != nil || format != formatName || major < 1:
		return errors.New("it is not the header of an input log")
	case major > majorVersion:
		return fmt.Errorf("%w: %d.%d, and this program reads up to %d",
			ErrNewerVersion, major, minor, majorVersion)
	}
	return nil
}

func decodeVersion(json *jx.Decoder) (major, minor int, err error) {
	err = decodeObject(json, 2, func(field []byte) (err error) {
		switch string(field) {
		case "major":
			major, err = json.Int()
		case "minor":
			minor, err = json.Int()
		default:
			err = errUnknownField
		}
		return err
	})
	return major, minor, err
}

// isTornHeader tells whether the line can be what is left of a header, so that a file that is no
// log at all is not taken for a torn one.
func isTornHeader(line []byte) bool {
	length := min(len(line), len(headerStart))
	return bytes.Equal(line[:length], []byte(headerStart[:length]))
}
