package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell/inputlog"
)

// recordStory writes a log of a store that is read anew: 5 pods gone, 20 added.
func recordStory(t *testing.T) string {
	t.Helper()
	log := newStoryLog(t)
	log.begin("", podsFrom(0, 10)...)
	log.put(core.DriftPreventionTriggered{Pods: podsFrom(5, 30)})
	return log.close()
}

// storyLog is a log that a test writes, an input each millisecond. Each probe is answered before
// the next input.
type storyLog struct {
	t      testing.TB
	path   string
	writer *inputlog.Writer
	state  core.State
	now    time.Time
	answer func(core.StartProbe) core.Outcome
}

func newStoryLog(t testing.TB) *storyLog {
	t.Helper()
	return continueStoryLog(t, filepath.Join(t.TempDir(), "story.jsonl"))
}

// continueStoryLog begins a run, behind those that the log has.
func continueStoryLog(t testing.TB, path string) *storyLog {
	t.Helper()
	begun := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	writer, err := inputlog.Open(path, inputlog.Run{Build: "test", Started: begun}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &storyLog{
		t: t, path: path, writer: writer, state: core.New(core.Config{}), now: begun,
		answer: func(core.StartProbe) core.Outcome { return core.Answer{Version: "3.4.3"} },
	}
}

// begin opens the gate.
func (r *storyLog) begin(selector string, pods ...*core.Pod) {
	r.t.Helper()
	credentials, err := core.NewCredentials("admin", password)
	if err != nil {
		r.t.Fatal(err)
	}
	r.put(core.ConfigValidated{AgentPort: 5555, PodSelector: selector})
	r.put(core.CredentialsUpdated{Credentials: credentials})
	r.put(core.PodStoreSet{Pods: pods, Synced: core.SyncDone})
}

func (r *storyLog) put(input core.Input) {
	for waiting := []core.Input{input}; len(waiting) > 0; waiting = waiting[1:] {
		for _, effect := range r.step(waiting[0]) {
			if start, is := effect.(core.StartProbe); is {
				waiting = append(waiting,
					core.ProbeFinished{Probe: start.Probe, Outcome: r.answer(start)})
			}
		}
	}
}

// step is put without the answers.
func (r *storyLog) step(input core.Input) []core.Effect {
	r.writer.Append(r.now, input)
	r.now = r.now.Add(time.Millisecond)
	next, effects := core.Reduce(r.state, input)
	r.writer.Effects(effects, next)
	r.state = next
	return effects
}

func (r *storyLog) close() string {
	r.t.Helper()
	if err := r.writer.Close(); err != nil {
		r.t.Fatal(err)
	}
	return r.path
}

func podsFrom(first, end int) []*core.Pod {
	var pods []*core.Pod
	for i := first; i < end; i++ {
		pods = append(pods, &core.Pod{
			Key: core.PodKey{Namespace: "lb", Name: fmt.Sprintf("hap-%02d", i)}, UID: fmt.Sprintf("u%d", i),
			IP: netip.AddrFrom4([4]byte{10, 1, 0, byte(i)}), Phase: core.PhaseRunning,
			Agent: core.AgentRunning, RuntimeID: "r1",
		})
	}
	return pods
}

// The same bytes, whatever the number of processors.
func TestReplayGivesTheSameBytesEveryTime(t *testing.T) {
	log := recordStory(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var first []byte
	for i := range 50 {
		runtime.GOMAXPROCS([]int{1, 16}[i%2])
		var out, errOut bytes.Buffer
		root := newRootCommand(nil, &out, &errOut)
		root.SetArgs([]string{"replay", log, "-o", "json", "--check", "--state"})
		if err := root.Execute(); err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = out.Bytes()
		}
		if !bytes.Equal(out.Bytes(), first) {
			t.Fatalf("replay %d differs:\n%s\n%s", i, first, &out)
		}
	}
	if got := command(t, "", "replay", log, "-o", "json", "--check", "--state"); got.out != string(first) {
		t.Errorf("the binary prints otherwise:\n%s", got.out)
	}
	if got := bytes.Count(first, []byte(`"cause":"deleted"`)); got != 5 {
		t.Errorf("%d terminations in:\n%s", got, first)
	}
}

func TestReplayUntilAndPod(t *testing.T) {
	log := recordStory(t)
	until := command(t, "", "replay", log, "-o", "json", "--until", "3", "--state")
	if until.status != 0 || strings.Count(until.out, "\n") != 4 || !strings.Contains(until.out, `"state":"seq 3"`) {
		t.Errorf("--until: status %d:\n%s%s", until.status, until.out, until.errOut)
	}
	pod := command(t, "", "replay", log, "-o", "text", "--pod", "lb/hap-02")
	for _, want := range []string{"start_probe", "+lb/hap-02(3.4.3)", "TERMINATED  lb/hap-02"} {
		if !strings.Contains(pod.out, want) {
			t.Errorf("--pod: no %q in:\n%s", want, pod.out)
		}
	}
	if strings.Count(pod.out, "probe_finished") > 3 {
		t.Errorf("--pod shows steps of others:\n%s", pod.out)
	}
	unknown := command(t, "", "replay", log, "--pod", "lb/nobody")
	if unknown.status != 2 || !strings.Contains(unknown.errOut, "lb/nobody") {
		t.Errorf("unknown pod: status %d: %s", unknown.status, unknown.errOut)
	}
}

// A log whose inputs were tampered with replays, but not to the recorded effects.
func TestReplayCheckTellsWhereTheEffectsDiffer(t *testing.T) {
	log := recordStory(t)
	content, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	tampered := bytes.Replace(withoutSums(content), []byte("3.4.3"), []byte("3.4.2"), 1)
	writeFile(t, log, string(tampered))
	got := command(t, "", "replay", log, "--check", "--quiet")
	if got.status != 1 || !strings.Contains(got.errOut, "seq ") || !strings.Contains(got.errOut, "differ") {
		t.Errorf("status %d: %s", got.status, got.errOut)
	}
}

var sumField = regexp.MustCompile(`,"sum":"[0-9a-f]{8}"\}`)

// withoutSums makes a log one of version 1.0, which can be changed by hand.
func withoutSums(log []byte) []byte {
	log = sumField.ReplaceAll(log, []byte("}"))
	return bytes.ReplaceAll(log, []byte(`"minor":1}`), []byte(`"minor":0}`))
}

// What is whole is replayed, with one warning; damage before the end is an error.
func TestReplayOfDamagedLogs(t *testing.T) {
	whole, err := os.ReadFile(recordStory(t))
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	fourLines := bytes.Join(lines[:4], nil)
	path := filepath.Join(t.TempDir(), "log.jsonl")
	for _, c := range []struct {
		name     string
		content  []byte
		status   int
		warnings int
		names    string
	}{
		{"whole", whole, 0, 0, ""},
		{"empty", nil, 0, 1, "empty"},
		{"cut in the last record", fourLines[:len(fourLines)-20], 0, 1, "line 4"},
		{"no line ending at the end", bytes.TrimSuffix(fourLines, []byte("\n")), 0, 1, "line 4"},
		{"CRLF", bytes.ReplaceAll(whole, []byte("\n"), []byte("\r\n")), 0, 1, "line 1"},
		{"NUL bytes at the tail", append(bytes.Clone(fourLines), 0, 0, 0), 0, 1, "line 5"},
		{"damage in line 2", bytes.Replace(fourLines, lines[1], lines[1][:20], 1), 2, 0, "line 2"},
		{"line 2 is missing", bytes.Replace(fourLines, lines[1], nil, 1), 2, 0, "line 2"},
	} {
		writeFile(t, path, string(c.content))
		got := command(t, "", "replay", path, "-o", "json")
		if got.status != c.status || strings.Count(got.errOut, "warning") != c.warnings ||
			!strings.Contains(got.errOut, c.names) {
			t.Errorf("%s: status %d: %q", c.name, got.status, got.errOut)
		}
	}
}

func TestRestartIsNamedInOneWarning(t *testing.T) {
	log := recordStory(t)
	f := newFleet(t, "127.88.0.1")
	again := command(t, list(pod("hap-0", "u0", "127.88.0.1")),
		runArgs(f, credentialsDir(t, "admin", password), "--once", "--record", log)...)
	if again.status != 0 {
		t.Fatal(again.errOut)
	}
	got := command(t, "", "replay", log, "--check", "--quiet")
	if got.status != 0 || strings.Count(got.errOut, "warning") != 1 || !strings.Contains(got.errOut, "restart") {
		t.Errorf("status %d: %s", got.status, got.errOut)
	}
}

// A signal ends a replay at the next record, and a check that was cut short is no success.
func TestSignalEndsAReplay(t *testing.T) {
	content, err := os.ReadFile(recordStory(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args   []string
		status int
		reason string
	}{
		{nil, 0, ""},
		{[]string{"--pod", "lb/nobody"}, 0, ""},
		{[]string{"--check"}, 1, "-: stopped by a signal after seq 2, so the rest is not checked"},
	} {
		ctx, signal := context.WithCancel(t.Context())
		// Line 4 is of input 3, which is known whole only with line 5.
		log := &lineByLine{lines: bytes.SplitAfter(content, []byte("\n")), end: 4, atEnd: signal}
		var out, errOut bytes.Buffer
		root := newRootCommand(log, &out, &errOut)
		root.SetArgs(append([]string{"replay", "-", "-o", "json"}, c.args...))
		err := root.ExecuteContext(ctx)
		reason := ""
		if err != nil {
			reason = err.Error()
		}
		if exitStatus(err) != c.status || reason != c.reason || errOut.Len() > 0 {
			t.Errorf("%v: status %d, %q: %s", c.args, exitStatus(err), reason, &errOut)
		}
		steps := bytes.Count(out.Bytes(), []byte("\n"))
		if wanted := c.args == nil || c.args[0] == "--check"; wanted && steps != 2 || !wanted && steps != 0 {
			t.Errorf("%v: %d steps:\n%s", c.args, steps, &out)
		}
	}
}

// lineByLine gives a line for each Read, and calls atEnd in the Read of line number end.
type lineByLine struct {
	lines     [][]byte
	read, end int
	atEnd     func()
}

func (l *lineByLine) Read(p []byte) (int, error) {
	if l.read == len(l.lines) {
		return 0, io.EOF
	}
	n := copy(p, l.lines[l.read])
	l.lines[l.read] = l.lines[l.read][n:]
	if len(l.lines[l.read]) == 0 {
		l.read++
		if l.read == l.end {
			l.atEnd()
		}
	}
	return n, nil
}
