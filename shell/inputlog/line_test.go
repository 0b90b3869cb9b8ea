package inputlog

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// A record may be longer than any buffer, and the source may give a byte at a time.
func TestLongRecord(t *testing.T) {
	detail := strings.Repeat("x\x00\xff", 20_000)
	log := recorded(t,
		core.ProbeFinished{Probe: 1, Outcome: core.Failure{Detail: detail}},
		core.BecameLeader{},
	)
	reader := NewReader(&slowSource{log})
	for {
		entry, err := reader.Next()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if step, is := entry.(Step); is && step.Seq == 1 {
			outcome := step.Input.(core.ProbeFinished).Outcome
			if outcome.(core.Failure).Detail != detail {
				t.Error("the detail is read as another one")
			}
		}
	}
}

// slowSource gives what it has in small pieces.
type slowSource struct{ rest []byte }

func (s *slowSource) Read(p []byte) (int, error) {
	if len(s.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), 1000)], s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// An error of the source is no end of the log.
func TestSourceError(t *testing.T) {
	broken := errors.New("broken")
	log := smallLog(t)
	reader := NewReader(io.MultiReader(bytes.NewReader(log[:len(log)-20]), failing{broken}))
	steps := 0
	for {
		entry, err := reader.Next()
		if err != nil {
			if !errors.Is(err, broken) || steps != 3 {
				t.Errorf("after %d steps: %v", steps, err)
			}
			return
		}
		if _, is := entry.(Step); is {
			steps++
		}
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
