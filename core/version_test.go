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
