package core_test

import (
	"strings"
	"testing"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/fuzz/bounds"
)

// FuzzParseVersion compares it with a reading of the same text digit by digit.
func FuzzParseVersion(f *testing.F) {
	for _, text := range []string{
		"3.4.3", "v3.3.5 8467a253", "3.5-dev2-abc", "0003.0004", "10000.1", "1.10000", "3.", "v", "",
		"vv3.4", "3.4\xff", "3.\u0664", "\n3.4",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var version core.Version
		bounds.Hold(t, len(text), 1, func() { version = core.ParseVersion(text) })
		want := core.Version{Text: text}
		if major, minor, found := naiveVersion(text); found {
			want.Major, want.Minor = major, minor
		}
		if version != want || version.Known() != (text != "") {
			t.Errorf("%q is read as %+v instead of %+v", text, version, want)
		}
		if is, want := core.IsVersion(text), naiveIsVersion(text); is != want {
			t.Errorf("%q is a version: %t instead of %t", text, is, want)
		}
	})
}

func naiveIsVersion(text string) bool {
	if len(text) > 64 {
		return false
	}
	number := strings.TrimPrefix(text, "v")
	if number == "" || !strings.Contains("0123456789", number[:1]) {
		return false
	}
	const allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .+~_:-"
	return !strings.ContainsFunc(number, func(r rune) bool {
		return !strings.ContainsRune(allowed, r)
	})
}

func naiveVersion(text string) (major, minor int, found bool) {
	if len(text) > 0 && text[0] == 'v' {
		text = text[1:]
	}
	major, text, found = naiveNumber(text)
	if !found || len(text) == 0 || text[0] != '.' {
		return 0, 0, false
	}
	minor, _, found = naiveNumber(text[1:])
	return major, minor, found
}

// naiveNumber takes up to four digits off a text; no more may follow.
func naiveNumber(text string) (number int, rest string, found bool) {
	digits := 0
	for digits < len(text) && text[digits] >= '0' && text[digits] <= '9' {
		number = number%1000*10 + int(text[digits]-'0')
		digits++
	}
	return number, text[digits:], digits >= 1 && digits <= 4
}
