package output

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// record describes an input or an effect once for both formats: a kind and named values, in order.
type record struct {
	label  string // what the kind is called in JSON: input, effect
	kind   string
	fields []field
}

type field struct {
	name  string
	value any
}

// with appends fields, except for those that it has.
func (r record) with(fields []field) record {
	for _, f := range fields {
		has := func(own field) bool { return own.name == f.name }
		if !slices.ContainsFunc(r.fields, has) {
			r.fields = append(r.fields, f)
		}
	}
	return r
}

// MarshalJSON keeps the order of the fields.
func (r record) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range append([]field{{r.label, r.kind}}, r.fields...) {
		if i > 0 {
			b.WriteByte(',')
		}
		value := f.value
		if duration, is := value.(time.Duration); is {
			f.name += "_ms"
			value = duration.Milliseconds()
		}
		encoded, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%q:%s", f.name, encoded)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// String gives it as one line; values that are empty are left out, and of a runtime ID what tells
// it from another.
func (r record) String() string {
	var b strings.Builder
	b.WriteString(r.kind)
	for _, f := range r.fields {
		value := f.value
		if epoch, is := value.(core.RuntimeID); is {
			value = short(string(epoch))
		}
		if text := fmt.Sprint(value); text != "" && text != "[]" {
			fmt.Fprintf(&b, " %s=%s", f.name, text)
		}
	}
	return printable(b.String())
}
