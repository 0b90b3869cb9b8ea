package core

import (
	"fmt"
	"io"
	"log/slog"
	"unique"
)

const redacted = "[redacted]"

// Secret holds a secret text that cannot be printed by accident (R26): every fmt verb, JSON, text
// and slog encoding shows a constant. Secrets of equal text are equal under ==.
//
// The text sits behind a handle because fmt does not call methods on unexported fields: printing
// a struct that embeds a Secret somewhere shows an address, which tells neither text nor length.
type Secret struct{ handle unique.Handle[string] }

// NewSecret wraps a text.
func NewSecret(text string) Secret { return Secret{handle: unique.Make(text)} }

// Reveal gives the text, for the one place that has to send it; empty for the zero Secret.
func (s Secret) Reveal() string {
	if s == (Secret{}) {
		return ""
	}
	return s.handle.Value()
}

// Format implements fmt.Formatter for all verbs.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// MarshalText implements encoding.TextMarshaler, and with it JSON.
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// LogValue implements slog.LogValuer.
func (Secret) LogValue() slog.Value { return slog.StringValue(redacted) }
