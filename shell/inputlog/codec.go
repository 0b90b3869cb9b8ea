package inputlog

import (
	"github.com/go-faster/jx"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// encoder turns inputs into JSON. It belongs to one run: what is known of the pods and the numbers
// of the passwords go on from record to record.
type encoder struct {
	json    jx.Encoder
	known   knowledge
	secrets placeholders

	// Scratch space.
	names   []string
	changed []*core.Pod
	gone    []core.PodKey
}

// decoder is the encoder's inverse. It lasts for a whole log and is told of each restart.
type decoder struct {
	known knowledge
	// lastSecret is the highest number of a password so far.
	lastSecret uint64
	texts      texts

	// One for the line, one for the input in it.
	line, nested jx.Decoder
}

func newDecoder() *decoder { return &decoder{texts: make(texts)} }

func (d *decoder) restart() { d.known = knowledge{} }

func (e *encoder) textField(name, text string) {
	e.json.FieldStart(name)
	e.json.Str(escape(text))
}

func (e *encoder) number(name string, number uint64) {
	e.json.FieldStart(name)
	e.json.UInt64(number)
}

func (e *encoder) flag(name string, flag bool) {
	e.json.FieldStart(name)
	e.json.Bool(flag)
}

func encodeList[T any](e *encoder, list []T, encode func(*encoder, T)) {
	e.json.ArrStart()
	for _, element := range list {
		encode(e, element)
	}
	e.json.ArrEnd()
}

// textAs and numberAs give a decoded value its own type.

func textAs[T ~string](text string, err error) (T, error) { return T(text), err }

func numberAs[T ~uint8 | ~uint64, V uint8 | uint64](number V, err error) (T, error) {
	return T(number), err
}
