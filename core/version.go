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
