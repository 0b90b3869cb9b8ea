package podstream

import (
	"bytes"
	"regexp"
)

// looks are the kinds of input that users give by mistake, told by how they begin.
var looks = []struct {
	begins *regexp.Regexp
	like   string
}{
	{regexp.MustCompile(`^No resources found`), "kubectl having found nothing; " + giveJSON},
	{regexp.MustCompile(`^(NAMESPACE +)?NAME( +[A-Z]|\s*$)`), "a table; " + giveJSON},
	{regexp.MustCompile(`^(---|(apiVersion|kind|items|metadata|status|spec|type|object):)(\s|$)`),
		"YAML; " + giveJSON},
	{regexp.MustCompile(`^pods?/`), "a list of names; " + giveJSON},
	{regexp.MustCompile(`^([Ee]rror: |Error from server|Unable to connect|The connection to the server)`),
		"an error of kubectl; see what it says"},
	{regexp.MustCompile(`^\[`), "a JSON array; " + giveJSON},
}

const giveJSON = "give kubectl -o json"

// looksLike says what the beginning of something that is no object looks like, and what to do about
// it; empty if there is nothing to say. It quotes nothing.
func looksLike(beginning []byte) string {
	switch {
	case bytes.HasPrefix(beginning, []byte("\x1f\x8b")):
		return ": looks like gzip; unpack it (gzip -dc), " + giveJSON
	case isUTF16(beginning):
		return ": looks like UTF-16; save it as UTF-8, " + giveJSON
	}
	for _, look := range looks {
		if look.begins.Match(beginning) {
			return ": looks like " + look.like
		}
	}
	return ""
}

// isUTF16 reports whether a text begins with the mark of UTF-16, or with a brace in it.
func isUTF16(text []byte) bool {
	for _, beginning := range []string{"\xff\xfe", "\xfe\xff", "{\x00", "\x00{"} {
		if bytes.HasPrefix(text, []byte(beginning)) {
			return true
		}
	}
	return false
}
