package effects

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

const (
	// minEchoBytes is the shortest form of a password that is looked for inside a text; shorter
	// ones are in too many texts by chance and must equal the whole of it.
	minEchoBytes = 4
	// maxRemembered bounds how many rotated credentials are remembered.
	maxRemembered = 32
)

// sentCredentials are those that were sent to agents lately: an agent may repeat old ones, too.
type sentCredentials struct {
	mu   sync.Mutex
	list []core.Credentials
}

// add remembers credentials and gives all that are remembered. The result is not changed later.
func (s *sentCredentials) add(credentials core.Credentials) []core.Credentials {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.list, credentials) {
		s.list = append(slices.Clone(s.list), credentials)
		s.list = s.list[max(0, len(s.list)-maxRemembered):]
	}
	return s.list
}

// repeatsAny tells that a text holds one of the passwords.
func repeatsAny(text string, sent []core.Credentials) bool {
	return slices.ContainsFunc(sent, func(c core.Credentials) bool { return repeats(text, c) })
}

// repeats tells that a text holds the password: as it is, or in an encoding that a server can be
// expected to print it in.
func repeats(text string, credentials core.Credentials) bool {
	password := credentials.Password().Reveal()
	if password == "" {
		return false
	}
	quoted := strconv.Quote(password)
	for _, form := range []string{password, quoted[1 : len(quoted)-1], html.EscapeString(password)} {
		if holds(text, form) {
			return true
		}
	}
	lower := strings.ToLower(text)
	for _, form := range []string{url.QueryEscape(password), url.PathEscape(password)} {
		if holds(lower, strings.ToLower(form)) {
			return true
		}
	}
	return repeatsDigits(lower, credentials.Username(), password)
}

// repeatsDigits compares letters and digits only, so that no separator between them helps: %73%33,
// 73 33 and 73:33 are the same hexadecimal digits.
func repeatsDigits(lower, username, password string) bool {
	digits := onlyDigits(lower)
	hash := sha256.Sum256([]byte(password))
	forms := []string{
		hex.EncodeToString([]byte(password)),
		hex.EncodeToString(hash[:]),
		base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString([]byte(password)),
		base64.RawStdEncoding.EncodeToString([]byte(password)),
		base64.RawStdEncoding.EncodeToString([]byte(username + ":" + password)),
	}
	// What stands before the password shifts its base64 digits: by 0, 1 or 2 bytes. The digits at
	// the edges belong to the neighbours, too.
	for shift := range 3 {
		encoded := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("x", shift) + password))
		first := []int{0, 2, 3}[shift]
		last := len(encoded) - min(1, (shift+len(password))%3)
		forms = append(forms, encoded[min(first, last):last])
	}
	return slices.ContainsFunc(forms, func(form string) bool {
		form = onlyDigits(strings.ToLower(form))
		return form != "" && holds(digits, form)
	})
}

func onlyDigits(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, text)
}

func holds(text, form string) bool {
	if len(form) < minEchoBytes {
		return text == form
	}
	return strings.Contains(text, form)
}
