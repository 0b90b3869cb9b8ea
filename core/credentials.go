package core

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Credentials authenticate to the agents, by basic auth. The zero value stands for "none yet";
// all others come from NewCredentials and are valid. Comparable with ==.
type Credentials struct {
	username string
	password Secret
}

// ErrCredentials is wrapped by all errors of NewCredentials.
var ErrCredentials = errors.New("invalid credentials")

// NewCredentials refuses, by name and without the value, an empty value, one with control or
// invisible characters, with a space at either end or invalid UTF-8, and a username that basic auth
// cannot carry (R27). Values that come from a file or a Secret go through TrimFile first.
func NewCredentials(username, password string) (Credentials, error) {
	if err := checkCredential("dataplane_username", username); err != nil {
		return Credentials{}, err
	}
	if strings.Contains(username, ":") {
		return Credentials{}, fmt.Errorf("%w: dataplane_username holds a colon", ErrCredentials)
	}
	if err := checkCredential("dataplane_password", password); err != nil {
		return Credentials{}, err
	}
	return Credentials{username: username, password: NewSecret(password)}, nil
}

func checkCredential(name, value string) error {
	if value == "" {
		return fmt.Errorf("%w: %s is empty", ErrCredentials, name)
	}
	if !utf8.ValidString(value) {
		return fmt.Errorf("%w: %s is no valid UTF-8", ErrCredentials, name)
	}
	if strings.ContainsFunc(value, unicode.IsControl) {
		return fmt.Errorf("%w: %s holds a control character", ErrCredentials, name)
	}
	if strings.ContainsFunc(value, isInvisible) {
		return fmt.Errorf("%w: %s holds an invisible character", ErrCredentials, name)
	}
	if strings.TrimSpace(value) != value {
		return fmt.Errorf("%w: %s begins or ends with a space", ErrCredentials, name)
	}
	return nil
}

// isInvisible finds what editors and web pages leave behind unseen: format characters, such as the
// zero width space, and letters that are never drawn.
func isInvisible(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point)
}

// TrimFile removes what a file has around a value: a byte order mark at the beginning and one line
// ending (LF or CRLF) at the end.
func TrimFile(content string) string {
	content = strings.TrimPrefix(content, "\uFEFF")
	return strings.TrimSuffix(strings.TrimSuffix(content, "\n"), "\r")
}

// Username is no secret; it is printed with each endpoint.
func (c Credentials) Username() string { return c.username }

// Password is the secret part.
func (c Credentials) Password() Secret { return c.password }

// IsZero tells that there are no credentials yet.
func (c Credentials) IsZero() bool { return c == Credentials{} }

// String shows the username only.
func (c Credentials) String() string { return c.username + ":" + redacted }

// GoString shows the username only.
func (c Credentials) GoString() string { return "core.Credentials{" + c.String() + "}" }

// MarshalJSON shows the username only.
func (c Credentials) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]string{"username": c.username, "password": redacted})
}
