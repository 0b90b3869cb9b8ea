package effects

import (
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// maxVersionBytes bounds a version text: it goes into states, logs and events.
const maxVersionBytes = 128

// versionText gives the text of a version field, empty where it is missing or null. It is the only
// part of an answer that is kept, so it is where an agent could make us print a password that it
// was sent (R26).
func versionText(name string, value field, sent []echo) (string, error) {
	if value.missing() {
		return "", nil
	}
	if value[0] != '"' {
		return "", failed(core.CauseInvalidDocument, "haproxy.%s is not a string", name)
	}
	if len(value) > maxFieldBytes {
		return "", versionTooLong(name)
	}
	unquoted, err := jsontext.AppendUnquote(nil, value)
	text := string(unquoted)
	switch {
	case err != nil:
		return "", failed(core.CauseInvalidDocument, "haproxy.%s is not a string", name)
	case len(text) > maxVersionBytes:
		return "", versionTooLong(name)
	case strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }):
		return "", failed(core.CauseInvalidDocument, "haproxy.%s is not printable", name)
	case repeatsAny(text, sent):
		return "", failed(core.CauseInvalidDocument, "haproxy.%s repeats the credentials", name)
	}
	return text, nil
}

func versionTooLong(name string) failure {
	return failed(core.CauseInvalidDocument, "haproxy.%s is over %d bytes", name, maxVersionBytes)
}
