package effects

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// versionText gives the text of a version field, empty where it is missing or null. It is the only
// part of an answer that is kept (R26).
func versionText(name string, value field) (string, error) {
	if value.missing() {
		return "", nil
	}
	if value[0] != '"' {
		return "", failed(core.CauseInvalidDocument, "haproxy.%s is not a string", name)
	}
	text, err := jsontext.AppendUnquote(nil, value)
	if err != nil || len(text) > 0 && !core.IsVersion(string(text)) {
		return "", failed(core.CauseInvalidDocument, "haproxy.%s does not read like a version", name)
	}
	return string(text), nil
}
