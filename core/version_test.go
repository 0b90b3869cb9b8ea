package core_test

import (
	"strings"
	"testing"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

func TestParseVersion(t *testing.T) {
	for _, test := range []struct {
		text         string
		major, minor int
	}{
		{"3.4.3", 3, 4},
		{"3.4.3-1", 3, 4},
		{"v3.3.5 8467a253", 3, 3},
		{"3.5-dev2-abc", 3, 5},
		{"3.4", 3, 4},
		{"2.10.0", 2, 10},
		{"0.0.1", 0, 0},
		{"", 0, 0},
		{"3", 0, 0},
		{"3.", 0, 0},
		{".4", 0, 0},
		{"v", 0, 0},
		{"HAProxy 3.4.3", 0, 0},
		{"-3.4", 0, 0},
		{"3.x", 0, 0},
		{"99999999999999999999.1", 0, 0},
		{"3.99999999999999999999", 0, 0},
		{"٣.٤", 0, 0},
		{"\x00\xff", 0, 0},
		{strings.Repeat("3", 1<<16), 0, 0},
	} {
		version := core.ParseVersion(test.text)
		want := core.Version{Text: test.text, Major: test.major, Minor: test.minor}
		if version != want || version.Known() != (test.text != "") {
			t.Errorf("%.40q: got %d.%d", test.text, version.Major, version.Minor)
		}
	}
}

// R26: what reads like a version, and what does not.
func TestIsVersion(t *testing.T) {
	for _, text := range []string{
		"3.4.3", "v3.4.3", "3", "v3", "3.4.3-1", "v3.3.5 8467a253", "3.5-dev2-abc", "3.4.3-1234",
		"2.8.5-1ubuntu3.4", "3.0.5-1~bpo12+1", "1:3.4.3_2", strings.Repeat("3", 64),
	} {
		if !core.IsVersion(text) {
			t.Errorf("%q is no version", text)
		}
	}
	for _, text := range []string{
		"", "v", "V3.4.3", "vv3", " 3.4.3", "-3.4", ".3", "HAProxy 3.4.3", "3.4.3\n", "\n3.4.3", "3.4.3\t1",
		"3.4.3\x00", "3.4.3\xff", "3.4.3 ü", "٣.٤", "3.4.3\u202e", "3.4.3 se%20cr%65t", "3.4.3 [115, 101]",
		"3.4.3 s&#101;cret", `3.4.3 \u0073ecret`, "3.4.3 c2VjcmV0=", "3.4.3 a/b", "3.4.3 (secret)",
		"3.4.3 {sha}", "3.4.3 \"x\"", "3.4.3,x", "3.4.3;x", "3.4.3 x=y", "3.4.3@x", "3.4.3#x", "3.4.3$x",
		"3.4.3 2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b", strings.Repeat("3", 65),
	} {
		if core.IsVersion(text) {
			t.Errorf("%q is a version", text)
		}
	}
}

// The document's version counts, else its full version.
func TestAnswerHAProxy(t *testing.T) {
	for _, test := range []struct {
		answer core.Answer
		want   string
	}{
		{core.Answer{Version: "3.4.3", FullVersion: "3.4.3-1"}, "3.4.3"},
		{core.Answer{FullVersion: "3.4.3-1"}, "3.4.3-1"},
		{core.Answer{}, ""},
	} {
		if got := test.answer.HAProxy(); got != core.ParseVersion(test.want) {
			t.Errorf("%+v: got %+v", test.answer, got)
		}
	}
}
