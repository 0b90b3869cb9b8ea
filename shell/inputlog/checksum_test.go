package inputlog

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// resummed gives every record of a log the checksum that fits, so that what else is wrong with it
// comes out.
func resummed(log []byte) []byte {
	var lines []byte
	sum := uint32(0)
	for line := range bytes.SplitAfterSeq(log, []byte("\n")) {
		body := bytes.TrimRight(line, "\x00\r\n")
		if _, _, found := cutSum(body); !found {
			lines = append(lines, line...)
			continue
		}
		content, _, _ := cutSum(body)
		lines, sum = appendSummed(lines, append(bytes.Clone(content), '}'), sum)
		lines = append(lines, line[len(body):]...)
	}
	return lines
}

var sumField = regexp.MustCompile(`,"sum":"[0-9a-f]{8}"\}`)

// unsummed is a log as version 1.0 has written it.
func unsummed(log []byte) []byte {
	log = sumField.ReplaceAll(log, []byte("}"))
	return bytes.ReplaceAll(log, []byte(`"minor":1}`), []byte(`"minor":0}`))
}

// everyKind is a log that has records of all kinds, by a run that was killed and one that was not.
func everyKind(t testing.TB) []byte {
	killed := recorded(t,
		core.ConfigValidated{AgentPort: 5555, PodSelector: "app=lb"},
		core.CredentialsUpdated{Credentials: credentialsOf(t, "admin", "password")},
		core.PodStoreSet{Pods: podsOf(2), Synced: core.SyncDone},
		core.ResourceIndexUpdated{
			Resource: core.HAProxyPods, Upserted: podsOf(1),
			Deleted: []core.PodRef{{Key: podOf(1, "").Key, UID: "u1"}},
		},
		core.ProbeFinished{Probe: 1, Outcome: core.Answer{Version: "3.4.3"}},
	)
	killed = killed[:bytes.LastIndexByte(killed[:len(killed)-1], '\n')+1]
	path := t.TempDir() + "/log"
	writeLog(t, path, killed)
	appendRun(t, path,
		core.DriftPreventionTriggered{Pods: podsOf(1)}, core.BecameLeader{},
		core.ProbeFinished{Probe: 2, Outcome: core.Failure{Cause: core.CauseTLS, Detail: "x"}},
		core.TimerFired{Timer: 3},
	)
	return contents(t, path)
}

// R29: no byte that is changed goes unnoticed, whether or not the record still is one; the error
// names the line.
func TestEveryChangedByteIsNoticed(t *testing.T) {
	log := everyKind(t)
	lastLine := bytes.LastIndexByte(log[:len(log)-1], '\n')
	for i, b := range log[:lastLine] {
		line := bytes.Count(log[:i], []byte("\n")) + 1
		for bit := range 8 {
			damaged := bytes.Clone(log)
			damaged[i] = b ^ 1<<bit
			_, err := readAll(t, damaged)
			if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrNewerVersion) ||
				!strings.HasPrefix(err.Error(), fmt.Sprintf("line %d: ", line)) {
				t.Fatalf("byte %d is %q instead of %q in line %d: %v\n%s",
					i, damaged[i], b, line, err, damaged)
			}
		}
	}
}

// A line that is missing, moved or given twice is noticed at the line that follows, also where no
// number tells: a restart, an end. What is missing at the end of a log cannot be told from a run
// that was killed.
func TestEveryMissingLineIsNoticed(t *testing.T) {
	lines := bytes.SplitAfter(everyKind(t), []byte("\n"))
	lines = lines[:len(lines)-1]
	for i := range lines[:len(lines)-1] {
		without := bytes.Join(append(append([][]byte{}, lines[:i]...), lines[i+1:]...), nil)
		assertNotWhole(t, fmt.Sprintf("without line %d", i+1), without, i+1)
		swapped := append([][]byte{}, lines...)
		swapped[i], swapped[i+1] = swapped[i+1], swapped[i]
		assertNotWhole(t, fmt.Sprintf("line %d after the next", i+1), bytes.Join(swapped, nil), i+1)
		twice := bytes.Join(append(append([][]byte{}, lines[:i+1]...), lines[i:]...), nil)
		assertNotWhole(t, fmt.Sprintf("line %d twice", i+1), twice, i+2)
	}
}

func assertNotWhole(t *testing.T, what string, log []byte, line int) {
	t.Helper()
	_, err := readAll(t, log)
	if !errors.Is(err, ErrDamaged) || !strings.HasPrefix(err.Error(), fmt.Sprintf("line %d: ", line)) {
		t.Errorf("%s: line %d is to be named, the error is %v", what, line, err)
	}
}

// A log of version 1.0 has no checksums: it is read, and what is appended to it has some.
func TestLogWithoutChecksums(t *testing.T) {
	old := unsummed(smallLog(t))
	if bytes.Contains(old, []byte(`"sum"`)) {
		t.Fatalf("there are checksums in\n%s", old)
	}
	path := t.TempDir() + "/log"
	writeLog(t, path, old)
	appendRun(t, path, core.BecameLeader{})
	log := contents(t, path)
	if steps := stepsOf(t, log); len(steps) != 4 {
		t.Errorf("%d steps are read", len(steps))
	}
	assertNotWhole(t, "a checksum taken away", sumField.ReplaceAll(log, []byte("}")), 6)
	lines := bytes.SplitAfter(log, []byte("\n"))
	lines[6] = sumField.ReplaceAll(lines[6], []byte("}"))
	assertNotWhole(t, "one checksum taken away", bytes.Join(lines, nil), 7)
}

// A write that failed half way is followed by a record that says why; its checksum follows that of
// the last line that is whole.
func TestChecksumOfTheLastWholeLine(t *testing.T) {
	lines, first := appendSummed(nil, []byte(`{"a":1}`), 0)
	lines = append(lines, '\n')
	whole := len(lines)
	lines, second := appendSummed(lines, []byte(`{"b":2}`), first)
	lines = append(lines, '\n')
	for _, c := range []struct {
		lines []byte
		want  uint32
	}{{nil, 7}, {[]byte("\n"), 7}, {lines[:whole], first}, {lines, second}} {
		if got := lastSum(c.lines, 7); got != c.want {
			t.Errorf("after %q it is %x, not %x", c.lines, got, c.want)
		}
	}
}

func writeLog(t testing.TB, path string, log []byte) {
	t.Helper()
	if err := os.WriteFile(path, log, 0o600); err != nil {
		t.Fatal(err)
	}
}
