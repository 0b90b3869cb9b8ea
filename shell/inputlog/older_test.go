package inputlog

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// Logs of version 1.0, written by the program as it then was, still replay to what they recorded.
func TestLogsOfVersion10(t *testing.T) {
	for file, want := range map[string]struct{ digests, restarts int }{
		"v1.0-churn.jsonl":   {74, 0},
		"v1.0-restart.jsonl": {25, 1},
		"v1.0-killed.jsonl":  {7, 0},
	} {
		entries, err := readFrom(bytes.NewReader(contents(t, filepath.Join("testdata", file))))
		if err != nil {
			t.Errorf("%s: %v", file, err)
		}
		state, digester := core.New(core.Config{}), NewDigester()
		digest, digests, restarts := "", 0, 0
		for _, entry := range entries {
			switch e := entry.(type) {
			case Started:
				state = core.New(e.Config)
				if e.Restart {
					restarts++
				}
			case Step:
				var effects []core.Effect
				state, effects = core.Reduce(state, e.Input)
				digest = digester.Sum(effects)
			case Reduced:
				digests++
				if e.Digest != digest {
					t.Errorf("%s: seq %d: the effects differ", file, e.Seq)
				}
			}
		}
		if digests != want.digests || restarts != want.restarts {
			t.Errorf("%s: %d digests and %d restarts", file, digests, restarts)
		}
	}
}
