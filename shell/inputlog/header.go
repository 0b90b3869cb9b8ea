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
	minorVersion = 1
	// summedSince is the minor version that has introduced checksums.
	summedSince = 1
)

// headerStart is how the first line of every log begins, whatever its version.
const headerStart = `{"format":"` + formatName + `"`

// ErrNewerVersion is wrapped where a log was written in a newer major version of the format.
var ErrNewerVersion = errors.New("newer version of the input log format")

func (e *encoder) header(run Run) {
	e.json.ObjStart()
	e.textField("format", formatName)
	e.version()
	e.textField("build", run.Build)
	e.time(run.Started)
	e.json.FieldStart("config")
	e.config(run.Config)
	e.json.ObjEnd()
}

func (e *encoder) version() {
	e.json.FieldStart("version")
	e.json.ObjStart()
	e.json.FieldStart("major")
	e.json.Int(majorVersion)
	e.json.FieldStart("minor")
	e.json.Int(minorVersion)
	e.json.ObjEnd()
}

// version is that of the format in which a run was recorded: the header's, or a restart record's,
// where it is 1.0 unless the record says something else.
type version struct{ major, minor int }

// hasSums reports whether each line of the run ends with a checksum.
func (v version) hasSums() bool { return v.minor >= summedSince }

func (v version) check() error {
	switch {
	case v.major < 1 || v.minor < 0:
		return fmt.Errorf("there is no version %d.%d", v.major, v.minor)
	case v.major > majorVersion:
		return fmt.Errorf("%w: %d.%d, and this program reads up to %d",
			ErrNewerVersion, v.major, v.minor, majorVersion)
	}
	return nil
}

var headerFields = []string{"build", "time", "config"}

// header looks at format and version first: in another major version, anything else may differ.
func (d *decoder) header(line []byte) (run Run, v version, err error) {
	if v, err = checkFormat(line); err != nil {
		return Run{}, v, err
	}
	json := jx.DecodeBytes(line)
	err = decodeObject(json, headerFields, func(field string) (err error) {
		switch field {
		case "build":
			run.Build, err = decodeText(json)
		case "time":
			run.Started, err = decodeTime(json)
		case "config":
			run.Config, err = d.config(json)
		}
		return err
	})
	return run, v, err
}

var formatFields = []string{"format", "version"}

func checkFormat(line []byte) (v version, err error) {
	var format string
	json := jx.DecodeBytes(line)
	err = decodeObject(json, formatFields, func(field string) (err error) {
		switch field {
		case "format":
			format, err = decodeText(json)
		case "version":
			v, err = decodeVersion(json)
		}
		return err
	})
	if err != nil || format != formatName {
		return v, errNoHeader
	}
	return v, cmp.Or(nothingFollows(json), v.check())
}

var errNoHeader = errors.New("it is not the header of an input log")

var versionFields = []string{"major", "minor"}

func decodeVersion(json *jx.Decoder) (v version, err error) {
	err = decodeObject(json, versionFields, func(field string) (err error) {
		switch field {
		case "major":
			v.major, err = decodeInteger(json)
		case "minor":
			v.minor, err = decodeInteger(json)
		}
		return err
	})
	return v, err
}

// isTornHeader tells whether the line can be what is left of a header, so that a file that is no
// log at all is not taken for a torn one.
func isTornHeader(line []byte) bool {
	length := min(len(line), len(headerStart))
	return bytes.Equal(line[:length], []byte(headerStart[:length]))
}
