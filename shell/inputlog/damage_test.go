package inputlog

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// smallLog has a header, three records and a closing record.
func smallLog(t testing.TB) []byte {
	return recorded(t,
		core.CredentialsUpdated{Credentials: credentialsOf(t, "admin", "password")},
		core.PodStoreSet{Pods: podsOf(1), Synced: core.SyncDone},
		core.TimerFired{Timer: 1},
	)
}

// wholeSteps counts the records of inputs in the beginning of a log; a record is whole without its
// line ending.
func wholeSteps(log []byte) (whole int) {
	for _, line := range bytes.Split(log, []byte("\n")) {
		if bytes.HasPrefix(line, []byte(`{"seq":`)) && bytes.HasSuffix(line, []byte(`"}`)) &&
			bytes.Contains(line, []byte(`"previous_effects":"`)) {
			whole++
		}
	}
	return whole
}

// R29: wherever a crash has cut a log, what is whole is read, with one warning that names
// the line, and the log can be appended to.
func TestTornAtEveryByte(t *testing.T) {
	log := smallLog(t)
	path := filepath.Join(t.TempDir(), "log")
	for cut := range len(log) + 1 {
		torn := log[:cut]
		entries, err := readAll(t, torn)
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		steps, warnings := len(entriesOf[Step](entries)), entriesOf[Warning](entries)
		if want := wholeSteps(torn); steps != want {
			t.Fatalf("cut at %d: %d steps are read, %d are whole", cut, steps, want)
		}
		wantWarnings, line := 1, bytes.Count(torn, []byte("\n"))+1
		if cut > 0 && torn[cut-1] == '\n' {
			wantWarnings = 0
		}
		if len(warnings) != wantWarnings || wantWarnings == 1 && warnings[0].Line != line {
			t.Fatalf("cut at %d in line %d: the warnings are %v", cut, line, warnings)
		}
		assertReopens(t, path, torn, steps)
	}
}

// assertReopens appends a run to a log and reads everything back.
func assertReopens(t *testing.T, path string, log []byte, steps int) {
	t.Helper()
	if err := os.WriteFile(path, log, 0o600); err != nil {
		t.Fatal(err)
	}
	appendRun(t, path, core.BecameLeader{}, core.TimerFired{Timer: 9})
	entries, err := readAll(t, contents(t, path))
	if err != nil {
		t.Fatalf("cut at %d, after reopening: %v", len(log), err)
	}
	all, runs := reducedOf(entries), entriesOf[Started](entries)
	if len(all) != steps+2 || len(entriesOf[Warning](entries)) != 0 {
		t.Fatalf("cut at %d: reopened, %d of %d steps: %+v", len(log), len(all), steps+2, entries)
	}
	if last := all[len(all)-1]; last.Seq != uint64(steps+2) || last.Digest == "" {
		t.Fatalf("cut at %d: the last step is %+v", len(log), last)
	}
	if runs[0].Restart || len(runs) > 2 || len(runs) == 2 && !runs[1].Restart ||
		steps > 0 && len(runs) != 2 {
		t.Fatalf("cut at %d: the runs are %+v", len(log), runs)
	}
}

// R29: any byte that is wrong before the last line is an error that names the line. A NUL or a
// byte above 127 cannot be right anywhere in what the writer wrote here. (The ending of the last
// line but one is left out: without it, that line is a part of the last one.)
func TestDamageBeforeTheLastLine(t *testing.T) {
	log := smallLog(t)
	lastLine := bytes.LastIndexByte(bytes.TrimSpace(log), '\n') + 1
	for i, b := range log[:lastLine-1] {
		line := bytes.Count(log[:i], []byte("\n")) + 1
		for _, wrong := range []byte{0, b | 0x80} {
			damaged := bytes.Clone(log)
			damaged[i] = wrong
			assertDamaged(t, fmt.Sprintf("byte %d is %#x", i, wrong), damaged, line)
		}
	}
	lines := bytes.SplitAfter(log, []byte("\n"))
	for i := range lines[:len(lines)-2] {
		for cut := 1; cut < len(lines[i])-1; cut++ {
			var damaged []byte
			for j, line := range lines {
				if j == i {
					line = append(bytes.Clone(line[:cut]), '\n')
				}
				damaged = append(damaged, line...)
			}
			assertDamaged(t, fmt.Sprintf("line %d cut at %d", i+1, cut), damaged, i+1)
		}
	}
}

func assertDamaged(t *testing.T, what string, log []byte, line int) {
	t.Helper()
	entries, err := readAll(t, log)
	prefix := fmt.Sprintf("line %d: ", line)
	if !errors.Is(err, ErrDamaged) || !strings.HasPrefix(err.Error(), prefix) {
		t.Fatalf("%s: line %d must be named, the error is %v", what, line, err)
	}
	if strings.Contains(err.Error(), "\n") {
		t.Fatalf("%s: the error has several lines: %v", what, err)
	}
	if got, want := len(entriesOf[Step](entries)), max(0, line-2); got != want {
		t.Fatalf("%s: %d steps are read before it instead of %d", what, got, want)
	}
}

func TestWrongLines(t *testing.T) {
	log := smallLog(t)
	lines := strings.SplitAfter(string(log), "\n")
	replace := func(line int, old, new string) string {
		changed := append([]string{}, lines...)
		changed[line-1] = strings.Replace(changed[line-1], old, new, 1)
		if changed[line-1] == lines[line-1] {
			t.Fatalf("line %d has no %q", line, old)
		}
		return strings.Join(changed, "")
	}
	without := func(line int) string {
		return strings.Join(append(append([]string{}, lines[:line-1]...), lines[line:]...), "")
	}
	twice := func(line int) string {
		return strings.Join(append(append([]string{}, lines[:line]...), lines[line-1:]...), "")
	}
	for _, c := range []struct {
		name, log string
		line      int
		text      string
	}{
		{"unknown kind", replace(3, "pod_store_set", "pod_store_sat"), 3, "unknown record kind"},
		{"kind in the last line", replace(5, "closing", "clasing"), 5, "unknown record kind"},
		{"gap", without(3), 3, "its seq is 3 where 2 is due"},
		{"duplicate", twice(3), 4, "its seq is 2 where 3 is due"},
		{"no header", without(1), 1, "it is not the header"},
		{"two headers", twice(1), 2, "has no kind"},
		{"another format", replace(1, "haproxy-discovery", "other"), 1, "it is not the header"},
		{"field name", replace(3, `"uid"`, `"uie"`), 3, "it lacks a field it must have: uid"},
		{"record field name", replace(3, `"seq"`, `"sec"`), 3, "lacks a field it must have: seq"},
		{"list", replace(3, `"gone"`, `"gane"`), 3, "neither a list nor"},
		{"real password", replace(2, "secret-1", "secret-x"), 2, "no placeholder"},
		{"digest", replace(3, `effects":"`, `effects":"0`), 3, "wrong length"},
		{"time", replace(3, "2026-01", "2026-13"), 3, "month out of range"},
		{"more on the line", replace(3, "\n", "{}\n"), 3, "more follows"},
		{"record after closing", string(log) + lines[3], 6, "closes the run"},
		{"not a log", "hello\n", 1, "it is not the header"},
		{"not a log at all", "\x7fELF\x02\x01", 1, "not valid UTF-8|it is not the header"},
		{"deep", lines[0] + strings.Repeat("[", 1<<20) + "\n" + lines[1], 2, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.log = string(resummed([]byte(c.log)))
			_, err := readAll(t, []byte(c.log))
			if !errors.Is(err, ErrDamaged) {
				t.Fatalf("the error is %v", err)
			}
			prefix := fmt.Sprintf("line %d: %v: ", c.line, ErrDamaged)
			if !strings.HasPrefix(err.Error(), prefix) || !containsOneOf(err.Error(), c.text) {
				t.Errorf("the error is %q", err)
			}
			assertNothingIsLost(t, c.log)
		})
	}
}

// assertNothingIsLost: a damaged file keeps no program from recording (R29a). Either the run is
// appended to it, or it lies beside the new log as it was, and that is told.
func assertNothingIsLost(t *testing.T, log string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log")
	_ = os.WriteFile(path, []byte(log), 0o644)
	var told []Notice
	w, err := Open(path, testRun, func(n Notice) { told = append(told, n) })
	if err != nil {
		t.Fatal(err)
	}
	w.patience = time.Minute
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	is, aside := string(contents(t, path)), setAsideBeside(t, path)
	if len(aside) == 0 {
		if !strings.HasPrefix(is, log) || len(told) > 0 {
			t.Errorf("appended to, it is %q; told was %v", is, told)
		}
		return
	}
	if was := string(contents(t, aside[0])); len(aside) > 1 || was != log {
		t.Errorf("%v; set aside, it is %q", aside, was)
	}
	if info, _ := os.Stat(aside[0]); info.Mode().Perm() != 0o644 {
		t.Error("the mode of a foreign file was changed")
	}
	if entries, err := readAll(t, []byte(is)); err != nil || len(entriesOf[Started](entries)) != 1 {
		t.Errorf("the new log holds %v, %v", entries, err)
	}
	if len(told) != 1 || told[0].Err != nil || told[0].Level != slog.LevelError ||
		!strings.Contains(told[0].Text, aside[0]) || !strings.Contains(told[0].Text, path) {
		t.Errorf("told was %+v", told)
	}
}

func setAsideBeside(t testing.TB, path string) []string {
	t.Helper()
	aside, err := filepath.Glob(path + ".set-aside-*")
	if err != nil {
		t.Fatal(err)
	}
	return aside
}

func containsOneOf(text, alternatives string) bool {
	for part := range strings.SplitSeq(alternatives, "|") {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// A newer major version is refused whatever else it holds; a newer minor one is read, and so are
// fields in another order and unknown ones.
func TestVersionsAndUnknownFields(t *testing.T) {
	newer := headerStart + `,"version":{"major":2,"minor":1},"x":[]}` + "\n"
	_, err := readAll(t, []byte(newer))
	if !errors.Is(err, ErrNewerVersion) || errors.Is(err, ErrDamaged) ||
		!strings.HasPrefix(err.Error(), "line 1: newer version") {
		t.Errorf("version 2.1 leads to %v", err)
	}

	log := string(smallLog(t))
	log = strings.Replace(log, `"minor":1`, `"minor":7,"patch":{"a":[1]}`, 1)
	log = strings.ReplaceAll(log, `{"seq":`, `{"new":{"a":[null,-1.5e3,"\u0000"]},"seq":`)
	log = strings.ReplaceAll(log, `"uid":`, `"new":true,"uid":`)
	log = strings.ReplaceAll(log, `{"changed":`, `{"new":true,"changed":`)
	log = strings.Replace(log, `"kind":"timer_fired","input":{"timer":1}`,
		`"input" : {"timer":1}, "kind":"timer_fired"`, 1)
	entries, err := readAll(t, resummed([]byte(log)))
	if err != nil {
		t.Fatal(err)
	}
	steps := entriesOf[Step](entries)
	if len(entries) != 8 || steps[2].Input != (core.TimerFired{Timer: 1}) {
		t.Errorf("read as %+v", entries)
	}
}

// What hurts no record costs a warning.
func TestHarmlessDamage(t *testing.T) {
	log := string(smallLog(t))
	unended := strings.TrimSuffix(log, "\n")
	for _, c := range []struct {
		name, log string
		steps     int
		warning   string
	}{
		{"empty", "", 0, "line 1: the log is empty"},
		{"NUL bytes only", strings.Repeat("\x00", 5000), 0, "line 1: NUL bytes"},
		{"no last line ending", unended, 3, "line 5: the last line has no line ending"},
		{"CRLF", strings.ReplaceAll(log, "\n", "\r\n"), 3, "line 1: the lines end in CRLF"},
		{"NUL bytes", log + strings.Repeat("\x00", 100_000), 3, "line 6: NUL bytes"},
		{"NUL bytes in the last line", unended + "\x00\x00", 3, "line 5: NUL bytes"},
		{"NUL bytes in a torn line", unended[:len(unended)-9] + "\x00\x00", 3, "line 5: the last"},
		{"NUL bytes as a line", log + "\x00\x00\n\x00\x00", 3, "line 6: NUL bytes"},
		{"torn line with an ending", unended[:len(unended)-9] + "\n\n", 3, "line 5: the last"},
		{"an empty line", log + "\n", 3, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			entries, err := readAll(t, []byte(c.log))
			if err != nil {
				t.Fatal(err)
			}
			steps, warnings := entriesOf[Step](entries), entriesOf[Warning](entries)
			if len(steps) != c.steps {
				t.Errorf("%d steps are read", len(steps))
			}
			switch {
			case c.warning == "" && len(warnings) == 0:
			case len(warnings) != 1 || !strings.HasPrefix(warnings[0].String(), c.warning):
				t.Errorf("the warnings are %v", warnings)
			}
			if c.name != "CRLF" {
				assertReopens(t, filepath.Join(t.TempDir(), "log"), []byte(c.log), c.steps)
			}
		})
	}
}
