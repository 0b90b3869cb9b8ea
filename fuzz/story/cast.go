// Package story is how the tests of the reducer tell what has happened: inputs and effects as lines
// of text, and credentials by the names of a fixed cast.
package story

import (
	"slices"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// Credentials are the cast: A, B and C. Two share the username, two the password.
var Credentials = []core.Credentials{
	newCredentials("admin", "alpha"),
	newCredentials("admin", "beta"),
	newCredentials("other", "alpha"),
}

func newCredentials(username, password string) core.Credentials {
	c, err := core.NewCredentials(username, password)
	if err != nil {
		panic(err)
	}
	return c
}

func credentialsText(credentials core.Credentials) string {
	at := slices.Index(Credentials, credentials)
	if at < 0 {
		return "none"
	}
	return string(rune('A' + at))
}
