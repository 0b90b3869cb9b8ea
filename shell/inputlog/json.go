package inputlog

import (
	"errors"
	"fmt"
	"io"

	"github.com/go-faster/jx"
)

// errUnknownField is what the callback of decodeObject answers to a field that it does not know:
// the field is skipped, so that a newer minor version may add some.
var errUnknownField = errors.New("unknown field")

// decodeObject calls back for each field. The writer leaves no field out, so fewer known ones than
// wanted are damage: without this, one wrong letter in a name would lose a value unnoticed.
func decodeObject(json *jx.Decoder, want int, read func(field []byte) error) error {
	fields, err := json.ObjIter()
	if err != nil {
		return err
	}
	known := 0
	for fields.Next() {
		switch err := read(fields.Key()); {
		case err == nil:
			known++
		case errors.Is(err, errUnknownField):
			if err := json.Skip(); err != nil {
				return err
			}
		default:
			return err
		}
	}
	if err := fields.Err(); err != nil {
		return err
	}
	if known != want {
		return fmt.Errorf("an object has %d of the %d fields it must have", known, want)
	}
	return nil
}

// decodeList reads a list; an empty one is nil.
func decodeList[T any](json *jx.Decoder, read func(*jx.Decoder) (T, error)) ([]T, error) {
	elements, err := json.ArrIter()
	if err != nil {
		return nil, err
	}
	var list []T
	for elements.Next() {
		element, err := read(json)
		if err != nil {
			return nil, err
		}
		list = append(list, element)
	}
	return list, elements.Err()
}

// nothingFollows tells whether the line ends here.
func nothingFollows(json *jx.Decoder) error {
	if err := json.Skip(); err != io.EOF {
		return errors.New("more follows the record on its line")
	}
	return nil
}
