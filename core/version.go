package core

import (
	"regexp"
	"strconv"
)

// Version is an HAProxy version as an agent reports it. The zero value means unknown.
type Version struct {
	// Text is the version in full.
	Text string
	// Major and Minor are 0 where Text does not parse.
	Major int
	Minor int
}

// Known tells that the agent has reported a version.
func (v Version) Known() bool { return v.Text != "" }

// MaxVersionLength is the length of the longest version text, in bytes.
const MaxVersionLength = 64

var versionText = regexp.MustCompile(`^v?[0-9][0-9A-Za-z .+~_:-]*$`)

// IsVersion reports whether a text reads like a version (R26): up to 64 letters, digits, spaces and
// .+~_:- of ASCII, beginning with a digit or with v and a digit. Nothing else that an agent says is
// kept, shown or logged. The empty text is none.
func IsVersion(text string) bool {
	return len(text) <= MaxVersionLength && versionText.MatchString(text)
}

var majorMinor = regexp.MustCompile(`^v?(\d{1,4})\.(\d{1,4})(?:\D|$)`)

// ParseVersion is total: what does not start like 3.4 or v3.4 keeps its text and has no numbers.
func ParseVersion(text string) Version {
	version := Version{Text: text}
	if match := majorMinor.FindStringSubmatch(text); match != nil {
		version.Major, _ = strconv.Atoi(match[1])
		version.Minor, _ = strconv.Atoi(match[2])
	}
	return version
}
