package inputlog

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/go-faster/jx"
)

// Facts may hold any bytes, JSON texts only valid UTF-8, and a replay has to see what was there.
// So a byte that is no part of valid UTF-8 is written as NUL and two hexadecimal digits, and so is
// NUL itself. Neither occurs in what Kubernetes accepts: in practice every text stands as it is.

func escape(text string) string {
	if utf8.ValidString(text) && strings.IndexByte(text, 0) < 0 {
		return text
	}
	escaped := make([]byte, 0, len(text)+8)
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		if r == 0 || r == utf8.RuneError && size == 1 {
			escaped = hex.AppendEncode(append(escaped, 0), []byte(text[:1]))
		} else {
			escaped = append(escaped, text[:size]...)
		}
		text = text[size:]
	}
	return string(escaped)
}

func unescape(escaped []byte) (string, error) {
	start := bytes.IndexByte(escaped, 0)
	if start < 0 {
		return string(escaped), nil
	}
	text := bytes.Clone(escaped[:start])
	for rest := escaped[start:]; len(rest) > 0; {
		if rest[0] != 0 {
			text = append(text, rest[0])
			rest = rest[1:]
			continue
		}
		if len(rest) < 3 {
			return "", errors.New("a text ends inside an escaped byte")
		}
		var err error
		if text, err = hex.AppendDecode(text, rest[1:3]); err != nil {
			return "", errors.New("a text holds a wrongly escaped byte")
		}
		rest = rest[3:]
	}
	return string(text), nil
}

func decodeText(json *jx.Decoder) (string, error) {
	escaped, err := json.StrBytes()
	if err != nil {
		return "", err
	}
	return unescape(escaped)
}

// texts shares equal texts among the pods that a reader makes: namespaces, phases and labels are
// the same in most of a fleet.
type texts map[string]string

// maxSharedTexts bounds the memory of texts that turn out not to repeat.
const maxSharedTexts = 4096

func (t texts) decode(json *jx.Decoder) (string, error) {
	escaped, err := json.StrBytes()
	if err != nil {
		return "", err
	}
	return t.share(escaped)
}

func (t texts) share(escaped []byte) (string, error) {
	if text, found := t[string(escaped)]; found {
		return text, nil
	}
	text, err := unescape(escaped)
	if err != nil {
		return "", err
	}
	if len(t) >= maxSharedTexts {
		clear(t)
	}
	t[string(escaped)] = text
	return text, nil
}
