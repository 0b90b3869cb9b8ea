package inputlog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// withLast gives the records of a kind another number of the last input.
func withLast(log []byte, kind string, last uint64) []byte {
	log = lastField.ReplaceAll(log, nil)
	return resummed(bytes.ReplaceAll(log, []byte(`{"kind":"`+kind+`",`),
		fmt.Appendf(nil, `{"kind":"%s","last":%d,`, kind, last)))
}

var lastField = regexp.MustCompile(`,"last":\d+`)

// R29a: a record that ends or begins a run tells which input was the last: those that are missing
// are named, also where no input follows.
func TestLostInputsAreNamed(t *testing.T) {
	closed := smallLog(t)
	lines := bytes.SplitAfter(closed, []byte("\n"))
	cut := bytes.Join([][]byte{lines[0], lines[1], lines[2], lines[4]}, nil)
	restarted := append(bytes.Join(lines[:3], nil), restartOf(string(closed))...)
	for _, c := range []struct {
		name string
		log  []byte
		err  string
	}{
		{"closing", withLast(closed, kindClosing, 3), ""},
		{"closing without the last input", withLast(cut, kindClosing, 3),
			"line 4: damaged input log: input 3 is missing before it"},
		{"closing without the last inputs", withLast(cut, kindClosing, 5),
			"line 4: damaged input log: inputs 3 to 5 are missing before it"},
		{"closing with one too many", withLast(closed, kindClosing, 2),
			"line 5: damaged input log: it says that input 2 was the last, and input 3 stands before it"},
		{"restart", withLast(restarted, kindRestart, 2), ""},
		{"restart without the last inputs", withLast(restarted, kindRestart, 4),
			"line 4: damaged input log: inputs 3 to 4 are missing before it"},
	} {
		if _, err := readAll(t, c.log); fmt.Sprint(err) != c.err && (err != nil || c.err != "") {
			t.Errorf("%s: the error is %v", c.name, err)
		}
	}
	stopped := []byte(strings.Replace(string(lastField.ReplaceAll(cut, nil)), `{"kind":"closing",`,
		`{"kind":"stopped","reason":"the disk is full","last":7,`, 1))
	entries, err := readAll(t, resummed(stopped))
	if stops := entriesOf[Stopped](entries); err != nil || len(stops) != 1 || stops[0].Lost != 5 {
		t.Errorf("a stop that has lost inputs is read as %+v, %v", stops, err)
	}
	restart := strings.Replace(lastField.ReplaceAllString(restartOf(string(stopped)), ""),
		`{"kind":"restart",`, `{"kind":"restart","last":7,`, 1)
	if _, err := readAll(t, resummed(append(bytes.Clone(stopped), restart...))); err != nil {
		t.Errorf("a restart after a stop that has lost inputs: %v", err)
	}
}

// Every run has an end, told or not.
func TestEveryRunEnds(t *testing.T) {
	closed := smallLog(t)
	lines := bytes.SplitAfter(closed, []byte("\n"))
	killed := bytes.Join(lines[:3], nil)
	for _, c := range []struct {
		name string
		log  []byte
		want []Ended
	}{
		{"closed", closed, []Ended{{Line: 5}}},
		{"killed", killed, []Ended{{Line: 3, Killed: true}}},
		{"torn", append(bytes.Clone(killed), `{"seq":3`...), []Ended{{Line: 4, Killed: true}}},
		{"killed, then restarted", append(bytes.Clone(killed), restartOf(string(killed))...),
			[]Ended{{Line: 4, Killed: true}, {Line: 4, Killed: true}}},
		{"header", lines[0], []Ended{{Line: 1, Killed: true}}},
		{"empty", nil, nil},
	} {
		entries, err := readAll(t, resummed(c.log))
		ends := entriesOf[Ended](entries)
		for i := range ends {
			ends[i].At = c.want[min(i, len(c.want)-1)].At
		}
		if err != nil || fmt.Sprint(ends) != fmt.Sprint(c.want) {
			t.Errorf("%s: %v, %v", c.name, ends, err)
		}
	}
}

// An entry is given as soon as its line is there: the next line may be a minute away.
func TestEntriesComeWithTheirLines(t *testing.T) {
	lines := bytes.SplitAfter(smallLog(t), []byte("\n"))
	source, writer := io.Pipe()
	reader := NewReader(source)
	for i, line := range lines[:4] {
		go func() { _, _ = writer.Write(line) }()
		for {
			entry, err := reader.Next()
			if err != nil {
				t.Fatal(err)
			}
			if step, is := entry.(Step); is && step.Line == i+1 || i == 0 {
				break
			}
		}
	}
}

// No error looks like the end of the log, whatever it wraps, and the source's is found in it.
func TestNoErrorLooksLikeTheEnd(t *testing.T) {
	cause := errors.New("broken")
	broken := fmt.Errorf("%w: %w", cause, io.EOF)
	_, err := NewReader(failing{broken}).Next()
	if errors.Is(err, io.EOF) || !errors.Is(err, cause) || err == nil {
		t.Errorf("the error of the source is %v", err)
	}
	log := smallLog(t)
	lines := bytes.SplitAfter(log, []byte("\n"))
	for i := range lines[:4] {
		for cut := range lines[i] {
			damaged := bytes.Join(lines[:i], nil)
			damaged = append(append(damaged, lines[i][:cut]...), "\n{}\n"...)
			reader := NewReader(bytes.NewReader(damaged))
			var err error
			for err == nil {
				_, err = reader.Next()
			}
			if errors.Is(err, io.EOF) {
				t.Fatalf("line %d cut at %d ends the log: %v", i+1, cut, err)
			}
		}
	}
}

// What damage there is costs no more memory than the longest line that is allowed (R29).
func TestMemoryOfDamagedTails(t *testing.T) {
	log := smallLog(t)
	const mega, giga = 1 << 20, 1 << 30
	for _, c := range []struct {
		name  string
		fill  byte
		size  int64
		limit uint64
		want  string
	}{
		{"NUL bytes", 0, giga, mega, ""},
		{"line endings", '\n', giga / 8, mega, ""},
		{"a line without an end", 'x', giga, 3 * maxLine, "line 6: damaged input log: it is longer than 256 MiB"},
	} {
		source := io.MultiReader(bytes.NewReader(log), io.LimitReader(endless(c.fill), c.size))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		entries, err := readFrom(source)
		runtime.ReadMemStats(&after)
		if got := after.HeapSys - before.HeapSys; after.HeapSys > before.HeapSys && got > 2*c.limit+32*mega {
			t.Errorf("%s: the heap has grown by %d MiB", c.name, got/mega)
		}
		if len(entriesOf[Step](entries)) != 3 || err == nil && c.want != "" || err != nil && err.Error() != c.want {
			t.Errorf("%s: %d steps, %v", c.name, len(entriesOf[Step](entries)), err)
		}
	}
}

type endless byte

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(e)
	}
	return len(p), nil
}

// A name that is given twice, a number out of its range, letters and digits in another case: each is
// an error that names line and field, on machines of any size.
func TestWrongFieldsAreNamed(t *testing.T) {
	log := string(recorded(t,
		core.ConfigValidated{AgentPort: 5555, PodSelector: "app=lb"},
		core.PodStoreSet{Pods: podsOf(1), Synced: core.SyncDone},
		core.ProbeFinished{Probe: 1, Outcome: core.Answer{Version: "3.4.3"}},
	))
	for _, c := range []struct{ old, new, want string }{
		{`"agent_port":5555`, `"agent_port":5000000000`, "line 2: damaged input log: input: agent_port: "},
		{`"max_probes":16`, `"max_probes":5000000000`, "line 1: damaged input log: config: max_probes: "},
		{`{"seq":2`, `{"seq":2,"seq":2`, "line 3: damaged input log: seq is given twice"},
		{`"input":{"probe"`, `"input":null,"input":{"probe"`, "line 4: damaged input log: input is given twice"},
		{`"synced":1`, `"synced":200`, "line 3: damaged input log: input: synced: 200 is more than 2"},
		{`"synced":1`, `"synced":1,"Synced":2`, "line 3: damaged input log: input: synced is written in other letters"},
		{`"unreadable":0`, `"unreadable":8`, "line 3: damaged input log: input: pods: changed: [0]: unreadable: 8 is more than 7"},
		{`"uid":`, `"name":"x","uid":`, "line 3: damaged input log: input: pods: changed: [0]: name is given twice"},
		{`"name":"hap-000000"`, `"uid":"x"`, "line 3: damaged input log: input: pods: changed: [0]: uid is given twice"},
		{`"gone":[]`, `"changed":[],"gone":[]`, "line 3: damaged input log: input: pods: changed is given twice"},
		{`"n":"0"`, `"n":"0","n":"1"`, "line 3: damaged input log: input: pods: changed: [0]: labels: a label is given twice"},
		{`"outcome":{`, `"outcome":{"failure":{"cause":"","detail":""},`, "line 4: damaged input log: input: outcome: it is neither"},
		{`"version":{"major"`, `"Version":{"major"`, "line 1: damaged input log: it is not the header"},
		{`effects":"6e340b9cffb3`, `effects":"6E340B9CFFB3`, "line 3: damaged input log: previous_effects: a digest of effects is not in lower-case"},
	} {
		damaged := strings.Replace(log, c.old, c.new, 1)
		if damaged == log {
			t.Fatalf("there is no %q in\n%s", c.old, log)
		}
		_, err := readAll(t, resummed([]byte(damaged)))
		if !errors.Is(err, ErrDamaged) || !strings.HasPrefix(fmt.Sprint(err), c.want) {
			t.Errorf("%s: the error is %v", c.new, err)
		}
	}
}

func TestCompressedLogIsNamed(t *testing.T) {
	_, err := readAll(t, []byte("\x1f\x8b\x08\x00\x00\x00"))
	if !strings.Contains(fmt.Sprint(err), "compressed by gzip") {
		t.Errorf("the error is %v", err)
	}
}
