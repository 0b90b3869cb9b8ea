package inputlog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/go-faster/jx"
	"github.com/samber/lo"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/fuzz/bounds"
)

// plantedSecret stands where a log must not have let it out from.
const plantedSecret = "hunter2-planted"

// FuzzReader: whatever the bytes of a log are, reading ends, costs memory in proportion, and gives
// entries that can be written and read again, or an error that names the line. How the bytes arrive
// makes no difference; a log that ends anywhere tells a beginning of what the whole one tells; and
// what stands in unknown fields, or in place of a placeholder, does not come out (R26, R29).
func FuzzReader(f *testing.F) {
	small := string(recorded(f, core.TimerFired{Timer: 1}, core.BecameLeader{}))
	f.Add([]byte(small), uint16(len(small)-30))
	f.Add(recorded(f, rotation(f, "one", "two")...), uint16(2000))
	f.Add(recorded(f,
		core.ConfigValidated{AgentPort: 5555, PodSelector: "app=lb"},
		core.PodStoreSet{Pods: []*core.Pod{podOf(1, "u1"), nil}},
		core.ResourceIndexUpdated{
			Resource: core.HAProxyPods, Upserted: []*core.Pod{podOf(2, "u2")},
			Deleted: []core.PodRef{{Key: podOf(1, "u1").Key, UID: "u1"}},
		},
		core.DriftPreventionTriggered{Pods: []*core.Pod{podOf(2, "u2")}},
		core.ResourceSyncComplete{Resource: "\xff"}, nil,
		core.ProbeFinished{Probe: 1, Outcome: core.Failure{Cause: core.CauseTLS, Detail: "\x00"}},
		core.ProbeFinished{Probe: 2, Outcome: core.Answer{Version: "3.4.3"}},
	), uint16(1500))
	f.Add([]byte(strings.ReplaceAll(small, "\n", "\r\n")), uint16(400))
	f.Add([]byte(small+"\x00\x00"), uint16(0))
	f.Add([]byte(small+restartOf(small)+`{"seq":3,`), uint16(600))
	f.Add([]byte(small+restartOf(small)+`{"kind":"stopped","time":"2026-01-01T00:00:00Z",`+
		`"reason":"x","previous_effects":""}`), uint16(1))
	f.Fuzz(func(t *testing.T, log []byte, end uint16) {
		var entries []Entry
		var err error
		bounds.Hold(t, len(log), 200, func() { entries, err = readFrom(bytes.NewReader(log)) })
		checkEntries(t, entries, err)
		again, againErr := readFrom(iotest.OneByteReader(bytes.NewReader(log)))
		if !slices.Equal(tell(entries), tell(again)) || fmt.Sprint(err) != fmt.Sprint(againErr) {
			t.Errorf("byte by byte, %q is read as %q, %v", log, tell(again), againErr)
		}
		checkEnded(t, log, entries, err, int(end))
		checkPlanted(t, log)
		checkRewritten(t, entries)
	})
}

// restartOf gives the record of a restart with the configuration of a log.
func restartOf(log string) string {
	_, config, _ := strings.Cut(log, `"config":`)
	config, _, _ = strings.Cut(config, "\n")
	return `{"kind":"restart","time":"2026-01-01T00:00:00Z","build":"","config":` + config + "\n"
}

func readFrom(source io.Reader) (entries []Entry, err error) {
	for reader := NewReader(source); ; {
		entry, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return entries, nil
		}
		if err != nil {
			return entries, err
		}
		entries = append(entries, entry)
	}
}

// checkEntries holds that lines and numbers only grow, and that an error is one line that names
// the place.
func checkEntries(t *testing.T, entries []Entry, err error) {
	t.Helper()
	line, seq := 0, uint64(0)
	for _, entry := range entries {
		before := line
		switch entry := entry.(type) {
		case Started:
			line = entry.Line
		case Step:
			if line, seq = entry.Line, seq+1; entry.Seq != seq {
				t.Errorf("step %d has the number %d", seq, entry.Seq)
			}
		case Reduced:
			line = entry.Line
			if entry.Seq != seq {
				t.Errorf("step %d is told of behind step %d", entry.Seq, seq)
			}
		case Ended:
			line = entry.Line
		case Stopped:
			line = entry.Line
		case Warning:
			line = entry.Line
		}
		if line < before || line < 1 {
			t.Errorf("line %d is told of behind line %d", line, before)
		}
	}
	if err != nil && (!errors.Is(err, ErrDamaged) && !errors.Is(err, ErrNewerVersion) ||
		!namesLine.MatchString(err.Error())) {
		t.Errorf("the error is %q", err)
	}
}

var namesLine = regexp.MustCompile(`^line [0-9]+: [^\n]+$`)

// checkEnded reads the beginning of a log. Its steps are the first ones of the whole log, and where
// that is not damaged, its beginning is not either.
func checkEnded(t *testing.T, log []byte, entries []Entry, err error, end int) {
	t.Helper()
	ended := log[:min(end, len(log))]
	some, endedErr := readFrom(bytes.NewReader(ended))
	all, steps := entriesOf[Step](entries), entriesOf[Step](some)
	if len(steps) > len(all) {
		t.Fatalf("%q tells of more than %d steps: %q", ended, len(all), tell(some))
	}
	for i, step := range steps {
		whole := all[i]
		if !slices.Equal(tell([]Entry{step}), tell([]Entry{whole})) {
			t.Errorf("%q tells of %q instead of %q", ended, tell([]Entry{step}), tell([]Entry{whole}))
		}
	}
	// What is left of a header is one only if its fields are in the writer's order.
	if err == nil && endedErr != nil && bytes.IndexByte(ended, '\n') >= 0 {
		t.Errorf("%q is read without an error, %q with %v", log, ended, endedErr)
	}
}

// checkPlanted puts a secret where nothing is read from: no entry changes. It puts one in the place
// of each password as well: what is no placeholder is refused, and not quoted.
func checkPlanted(t *testing.T, log []byte) {
	t.Helper()
	entries, err := readFrom(bytes.NewReader(resummed(log)))
	lines := bytes.SplitAfter(log, []byte("\n"))
	for i, line := range lines {
		if utf8.Valid(line) && jx.Valid(line) {
			lines[i] = openBrace.ReplaceAll(line, []byte(`${1}"planted":["`+plantedSecret+`"],$2`))
		}
	}
	again, againErr := readFrom(bytes.NewReader(resummed(bytes.Join(lines, nil))))
	if !slices.Equal(tell(again), tell(entries)) || (err == nil) != (againErr == nil) {
		t.Errorf("what is unknown in %q makes a difference: %q, %v instead of %q, %v",
			log, tell(again), againErr, tell(entries), err)
	}
	revealed := password.ReplaceAll(log, []byte(`"password":"`+plantedSecret+`"`))
	entries, err = readFrom(bytes.NewReader(resummed(revealed)))
	for _, told := range []string{
		fmt.Sprintf("%+v %v", entries, err), fmt.Sprint(tell(again), againErr),
	} {
		if strings.Contains(told, plantedSecret) {
			t.Errorf("a secret has come out: %s", told)
		}
	}
}

var (
	// openBrace finds the record and its input, unless they are empty.
	openBrace = regexp.MustCompile(`(^\{|"input": *\{)( *")`)
	password  = regexp.MustCompile(`"password":"[^"\\]*"`)
)

// checkRewritten writes what was read, and reads it again.
func checkRewritten(t *testing.T, entries []Entry) {
	t.Helper()
	if len(entriesOf[Started](entries)) == 0 {
		return // There is no log yet.
	}
	again, err := readFrom(bytes.NewReader(rewritten(entries)))
	if err != nil || len(entriesOf[Warning](again)) > 0 {
		t.Fatalf("%q is written as %q, and read with %v", tell(entries), rewritten(entries), err)
	}
	var secrets placeholders
	steps := entriesOf[Step](again)
	for _, entry := range entries {
		switch entry := entry.(type) {
		case Started:
			secrets = placeholders{last: secrets.last}
		case Step:
			entry.Input = withPlaceholders(entry.Input, &secrets)
			entry.Line = steps[0].Line
			if want, got := tell([]Entry{entry}), tell([]Entry{steps[0]}); !slices.Equal(want, got) {
				t.Errorf("%q is written and read as %q", want, got)
			}
			steps = steps[1:]
		}
	}
}

// rewritten records the runs that the entries tell of.
func rewritten(entries []Entry) []byte {
	var r recorder
	open := false
	for _, entry := range entries {
		switch entry := entry.(type) {
		case Started:
			if entry.Restart {
				r.encoder = encoder{secrets: placeholders{last: r.encoder.secrets.last}}
				r.closeRun(&open)
				r.encoder.restart(entry.Run, r.seq)
			} else {
				r.encoder.header(entry.Run)
			}
			r.endLine()
			open = true
		case Snapshot:
			r.seq = r.encoder.snapshot(entry.Last, entry.At, entry.State)
			r.endLine()
		case Step:
			r.seq = entry.Seq
			r.encoder.input(entry.Seq, entry.At, entry.Input, r.digest)
			r.digest = ""
			r.endLine()
		case Reduced:
			r.digest = entry.Digest
		case Stopped:
			r.encoder.stopped(entry.At, entry.Reason, r.seq, r.digest)
			r.endLine()
			open = false
		}
	}
	r.closeRun(&open)
	return r.buffer
}

func (r *recorder) closeRun(open *bool) {
	if *open {
		r.encoder.closing(someTime, r.seq, r.digest)
		r.endLine()
	}
	r.digest, *open = "", false
}

// tell prints entries in full, each on its own: passwords, which are placeholders, included.
func tell(entries []Entry) []string {
	return lo.Map(entries, func(entry Entry, _ int) string {
		step, isStep := entry.(Step)
		if !isStep {
			return fmt.Sprintf("%T%+v", entry, entry)
		}
		var e encoder
		e.input(step.Seq, step.At, step.Input, "")
		text := fmt.Sprintf("line %d: %s", step.Line, e.json.Bytes())
		if update, is := step.Input.(core.CredentialsUpdated); is {
			text += update.Credentials.Password().Reveal()
		}
		return text
	})
}
