package bounds

import (
	"fmt"
	"testing"
)

// failures takes the place of a test that may fail.
type failures struct {
	testing.TB
	told []string
}

func (f *failures) Helper() {}

func (f *failures) Errorf(format string, args ...any) {
	f.told = append(f.told, fmt.Sprintf(format, args...))
}

var sink []byte

func TestHold(t *testing.T) {
	for _, test := range []struct {
		name            string
		piece, pieces   int
		inputBytes, per int
		fails           bool
	}{
		{"nothing", 0, 0, 0, 1, false},
		{"in proportion", 4 << 20, 1, 1 << 20, 4, false},
		{"out of proportion", 8 << 20, 1, 1 << 20, 4, true},
		{"out of proportion, in small pieces", 100, 100_000, 1 << 20, 4, true},
		{"a short input and its slack", Slack / 2, 1, 10, 1, false},
		{"a short input and more", 2 * Slack, 1, 10, 1, true},
	} {
		blamed := &failures{TB: t}
		Hold(blamed, test.inputBytes, test.per, func() {
			for range test.pieces {
				sink = make([]byte, test.piece)
			}
		})
		if (len(blamed.told) > 0) != test.fails {
			t.Errorf("%s: told %q", test.name, blamed.told)
		}
	}
}

// What is over the limit once, because of others, is forgiven.
func TestHoldForgivesOthers(t *testing.T) {
	blamed := &failures{TB: t}
	runs := 0
	Hold(blamed, 0, 1, func() {
		if runs++; runs == 1 {
			sink = make([]byte, 8<<20)
		}
	})
	if len(blamed.told) > 0 || runs != 2 {
		t.Errorf("told %q after %d runs", blamed.told, runs)
	}
}

func BenchmarkHold(b *testing.B) {
	for b.Loop() {
		Hold(b, 0, 1, func() {})
	}
}
