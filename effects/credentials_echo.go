package effects

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

const (
	// minSoughtPassword is the length, in characters, from which on a password in a version is no
	// chance: a password 1234 must not keep HAProxy 3.4.3-1234 out.
	minSoughtPassword = 8
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

// repeatsAny reports whether a text that reads like a version holds one of the passwords, as it is,
// in hexadecimal or in base64 (R26). Encodings are compared by letters and digits only, so that
// neither letter case nor separators nor another alphabet of base64 make a difference.
func repeatsAny(text string, sent []core.Credentials) bool {
	digits := onlyDigits(text)
	return slices.ContainsFunc(sent, func(credentials core.Credentials) bool {
		password := credentials.Password().Reveal()
		if utf8.RuneCountInString(password) < minSoughtPassword {
			return false
		}
		return strings.Contains(text, password) ||
			slices.ContainsFunc(encodings(password), func(encoded string) bool {
				return strings.Contains(digits, onlyDigits(encoded))
			})
	})
}

// encodings are those in which a password may stand inside of encoded text. What stands before it
// shifts its base64 digits, by 0, 1 or 2 bytes; those at the edges belong to the neighbours, too.
func encodings(password string) []string {
	forms := []string{hex.EncodeToString([]byte(password))}
	for shift, shared := range []int{0, 2, 3} {
		encoded := base64.RawStdEncoding.EncodeToString([]byte("::"[:shift] + password))
		last := len(encoded) - min(1, (shift+len(password))%3)
		forms = append(forms, encoded[shared:last])
	}
	return forms
}

func onlyDigits(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}
