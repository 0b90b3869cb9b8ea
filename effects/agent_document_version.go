package effects

import (
	"encoding/base64"
	"encoding/hex"
	"html"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

const (
	// maxVersionBytes bounds a version text: it goes into states, logs and events.
	maxVersionBytes = 128
	// minEchoBytes is the shortest form of a password that is looked for inside a text; shorter
	// ones are in too many texts by chance and must equal the whole of it.
	minEchoBytes = 4
)

// versionText gives the text of a version field, empty where it is missing or null. It is the only
// part of an answer that is kept, so it is where an agent could make us print a password that it
// was sent (R26).
func versionText(name string, value field, credentials core.Credentials) (string, error) {
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
	case repeats(text, credentials):
		return "", failed(core.CauseInvalidDocument, "haproxy.%s repeats the credentials", name)
	}
	return text, nil
}

func versionTooLong(name string) failure {
	return failed(core.CauseInvalidDocument, "haproxy.%s is over %d bytes", name, maxVersionBytes)
}

// repeats tells that a text holds the password: as it is, or in an encoding that a server can be
// expected to print it in.
func repeats(text string, credentials core.Credentials) bool {
	password := credentials.Password().Reveal()
	if password == "" {
		return false
	}
	quoted := strconv.Quote(password)
	forms := []string{password, quoted[1 : len(quoted)-1], html.EscapeString(password)}
	for _, encoded := range []string{password, credentials.Username() + ":" + password} {
		forms = append(forms,
			base64.RawStdEncoding.EncodeToString([]byte(encoded)),
			base64.RawURLEncoding.EncodeToString([]byte(encoded)))
	}
	for _, form := range forms {
		if holds(text, form) {
			return true
		}
	}
	// Hexadecimal digits come in either letter case.
	lower := strings.ToLower(text)
	for _, form := range []string{
		hex.EncodeToString([]byte(password)),
		strings.ToLower(url.QueryEscape(password)),
		strings.ToLower(url.PathEscape(password)),
	} {
		if holds(lower, form) {
			return true
		}
	}
	return false
}

func holds(text, form string) bool {
	if len(form) < minEchoBytes {
		return strings.TrimRight(text, "=") == form || text == form
	}
	return strings.Contains(text, form)
}
