package inputlog

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/go-faster/jx"
)

// fieldSet is a set of an object's fields, by their places in a list of names.
type fieldSet uint16

// decodeFields calls back for each field that is named, and tells which there are. A field that is
// given twice is damage, and so is one in other letters than the name's; others are skipped, so that
// a newer minor version may add some.
func decodeFields(
	json *jx.Decoder, names []string, read func(field string) error,
) (seen fieldSet, err error) {
	fields, err := json.ObjIter()
	if err != nil {
		return 0, err
	}
	due := 0 // the writer has them in order
	for fields.Next() {
		i, err := findField(names, fields.Key(), due)
		if err != nil {
			return seen, err
		}
		if i < 0 {
			if err := json.Skip(); err != nil {
				return seen, err
			}
			continue
		}
		if seen&(1<<i) != 0 {
			return seen, fmt.Errorf("%s is given twice", names[i])
		}
		seen |= 1 << i
		due = i + 1
		if err := read(names[i]); err != nil {
			return seen, fmt.Errorf("%s: %w", names[i], err)
		}
	}
	return seen, fields.Err()
}

// findField gives the place of a field among the names, less than 0 for an unknown one.
func findField(names []string, field []byte, due int) (int, error) {
	if due < len(names) && names[due] == string(field) {
		return due, nil
	}
	for i, name := range names {
		if name == string(field) {
			return i, nil
		}
	}
	for _, name := range names {
		if strings.EqualFold(name, string(field)) {
			return 0, fmt.Errorf("%s is written in other letters", name)
		}
	}
	return -1, nil
}

// missing reports the fields that are not there.
func (s fieldSet) missing(names []string, required fieldSet) error {
	if required&^s == 0 {
		return nil
	}
	var lacks []string
	for i, name := range names {
		if required&^s&(1<<i) != 0 {
			lacks = append(lacks, name)
		}
	}
	return fmt.Errorf("it lacks a field it must have: %s", strings.Join(lacks, ", "))
}

// decodeObject calls back for each of the fields, which all have to be there: the writer leaves none
// out, and without this, one wrong letter in a name would lose a value unnoticed.
func decodeObject(json *jx.Decoder, names []string, read func(field string) error) error {
	seen, err := decodeFields(json, names, read)
	if err != nil {
		return err
	}
	return seen.missing(names, 1<<len(names)-1)
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
			return nil, fmt.Errorf("[%d]: %w", len(list), err)
		}
		list = append(list, element)
	}
	return list, elements.Err()
}

// orNull reads a value, or nil for null.
func orNull[T any](json *jx.Decoder, read func(*jx.Decoder) (T, error)) (*T, error) {
	if json.Next() == jx.Null {
		return nil, json.Null()
	}
	value, err := read(json)
	return &value, err
}

// nothingFollows tells whether the line ends here.
func nothingFollows(json *jx.Decoder) error {
	if err := json.Skip(); err != io.EOF {
		return errors.New("more follows the record on its line")
	}
	return nil
}

// integer writes a number that every machine can read: what is out of the range is far out of what
// any such field may have, and so is the end of the range.
func (e *encoder) integer(number int) {
	e.json.Int32(int32(min(max(number, math.MinInt32), math.MaxInt32)))
}

func decodeInteger(json *jx.Decoder) (int, error) {
	number, err := json.Int64() // Int32 lets some numbers overflow
	if err == nil && number != int64(int32(number)) {
		err = fmt.Errorf("%d is out of range", number)
	}
	return int(number), err
}

// decodeUpTo reads a number that may not be larger than the last one that means something.
func decodeUpTo[T ~uint8](json *jx.Decoder, last T) (T, error) {
	number, err := json.UInt64() // UInt8 lets some numbers overflow
	if err == nil && number > uint64(last) {
		err = fmt.Errorf("%d is more than %d", number, last)
	}
	return T(number), err
}
