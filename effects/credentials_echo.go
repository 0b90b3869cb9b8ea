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

	"github.com/samber/lo"

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
	list []echo
}

// echo is what a repeated password looks like, worked out once for all probes.
type echo struct {
	credentials core.Credentials
	// verbatim forms are looked for in a text as it is, lower ones in its lower case, digits among
	// the letters and digits of that. They are secrets, so that printing a Prober tells none.
	verbatim, lower, digits []core.Secret
}

// add remembers credentials and gives all that are remembered. The result is not changed later.
func (s *sentCredentials) add(credentials core.Credentials) []echo {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.ContainsFunc(s.list, func(e echo) bool { return e.credentials == credentials }) {
		s.list = append(slices.Clone(s.list), newEcho(credentials))
		s.list = s.list[max(0, len(s.list)-maxRemembered):]
	}
	return s.list
}

// newEcho lists the password as it is and in the encodings that a server can be expected to print
// it in.
func newEcho(credentials core.Credentials) echo {
	password := credentials.Password().Reveal()
	if password == "" {
		return echo{credentials: credentials}
	}
	quoted := strconv.Quote(password)
	return echo{
		credentials: credentials,
		verbatim:    secrets(password, quoted[1:len(quoted)-1], html.EscapeString(password)),
		lower: secrets(
			strings.ToLower(url.QueryEscape(password)), strings.ToLower(url.PathEscape(password))),
		digits: secrets(digitForms(credentials.Username(), password)...),
	}
}

func secrets(forms ...string) []core.Secret {
	return lo.Map(forms, func(form string, _ int) core.Secret { return core.NewSecret(form) })
}

// digitForms are compared by letters and digits only, so that no separator between them helps:
// %73%33, 73 33 and 73:33 are the same hexadecimal digits.
func digitForms(username, password string) []string {
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
	digits := lo.Map(forms, func(form string, _ int) string { return onlyDigits(strings.ToLower(form)) })
	return lo.Without(digits, "")
}

// repeatsAny tells that a text holds one of the passwords.
func repeatsAny(text string, sent []echo) bool {
	lower := strings.ToLower(text)
	digits := onlyDigits(lower)
	return slices.ContainsFunc(sent, func(e echo) bool {
		return holdsAny(text, e.verbatim) || holdsAny(lower, e.lower) || holdsAny(digits, e.digits)
	})
}

func holdsAny(text string, forms []core.Secret) bool {
	return slices.ContainsFunc(forms, func(secret core.Secret) bool {
		form := secret.Reveal()
		if len(form) < minEchoBytes {
			return text == form
		}
		return strings.Contains(text, form)
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
