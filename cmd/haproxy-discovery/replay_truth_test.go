package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// outcome is what a user sees of a command that runs in this process.
type outcome struct {
	status         int
	out, errOut    string
	err            error
	lineOfError    int
	warnings, oks  int
	steps, skipped int
}

var namedLine = regexp.MustCompile(`line (\d+): `)

func replayOf(log []byte, args ...string) outcome {
	var out, errOut bytes.Buffer
	root := newRootCommand(bytes.NewReader(log), &out, &errOut)
	root.SetArgs(append([]string{"replay", "-", "-o", "json"}, args...))
	err := root.ExecuteContext(context.Background())
	o := outcome{
		status: exitStatus(err), err: err, out: out.String(), errOut: errOut.String(),
		warnings: strings.Count(errOut.String(), "warning: "), oks: strings.Count(errOut.String(), "ok: "),
		steps: strings.Count(out.String(), `{"seq":`),
	}
	if match := namedLine.FindStringSubmatch(fmt.Sprint(err)); match != nil {
		o.lineOfError, _ = strconv.Atoi(match[1])
	}
	return o
}

// recordedLog is a log of two runs, of which the first was killed, with inputs of all kinds.
func recordedLog(tb testing.TB) []byte {
	story := newStoryLog(tb)
	story.begin("", podsFrom(0, 3)...)
	story.put(core.BecameLeader{})
	story.put(core.ResourceIndexUpdated{
		Resource: core.HAProxyPods, Deleted: []core.PodRef{{Key: podsFrom(1, 2)[0].Key, UID: "u1"}},
	})
	story.put(core.DriftPreventionTriggered{Pods: podsFrom(2, 4)})
	path := story.close()
	log, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	killed := log[:bytes.LastIndexByte(log[:len(log)-1], '\n')+1]
	if err := os.WriteFile(path, killed, 0o600); err != nil {
		tb.Fatal(err)
	}
	again := continueStoryLog(tb, path)
	again.answer = func(core.StartProbe) core.Outcome { return core.Failure{Cause: core.CauseTLS, Detail: "no"} }
	again.begin("", podsFrom(0, 2)...)
	again.put(core.ResourceSyncComplete{Resource: core.HAProxyPods, Pods: podsFrom(0, 2)})
	again.close()
	if log, err = os.ReadFile(path); err != nil {
		tb.Fatal(err)
	}
	return log
}

// assertTruth: whatever happened to a line of a log, `replay --check` ends with status 2 and names the
// line; or, for the last line only, it warns and loses no other.
func assertTruth(tb testing.TB, what string, whole outcome, damaged []byte, line, lines int) {
	tb.Helper()
	got := replayOf(damaged, "--check")
	switch {
	case got.status == exitUsage && got.lineOfError == line && got.oks == 0:
	case line == lines && got.status == exitDone && got.warnings > whole.warnings &&
		got.steps >= whole.steps && strings.HasPrefix(got.out, stepsOf(whole.out)):
	default:
		tb.Fatalf("%s in line %d of %d: status %d, %v\n%s\n%s",
			what, line, lines, got.status, got.err, got.errOut, damaged)
	}
}

// stepsOf cuts the last line off, which tells of the end of the run.
func stepsOf(out string) string {
	return out[:strings.LastIndexByte(strings.TrimSuffix(out, "\n"), '\n')+1]
}

func cutLine(lines [][]byte, i, cut int) []byte {
	damaged := bytes.Join(lines[:i], nil)
	damaged = append(append(damaged, lines[i][:cut]...), '\n')
	return append(damaged, bytes.Join(lines[i+1:], nil)...)
}

func splitLines(log []byte) [][]byte {
	lines := bytes.SplitAfter(log, []byte("\n"))
	return lines[:len(lines)-1]
}

// R29, R29b: every cut and every changed byte of every line of a log, through the command; here some
// hundreds of them, FuzzReplayTellsTheTruth has them all.
func TestReplayTellsTheTruthOfDamage(t *testing.T) {
	log := recordedLog(t)
	whole := replayOf(log, "--check")
	if whole.status != exitDone || whole.oks != 1 || whole.warnings != 1 {
		t.Fatalf("the whole log: status %d\n%s", whole.status, whole.errOut)
	}
	lines := splitLines(log)
	for i, line := range lines {
		for cut := 1 + i%7; cut < len(line)-1; cut += 13 {
			assertTruth(t, fmt.Sprintf("cut at %d", cut), whole, cutLine(lines, i, cut), i+1, len(lines))
		}
	}
	for place := 0; place < len(log); place += 11 {
		flipByte(t, whole, log, place, byte(1<<(place%8)))
	}
}

func flipByte(tb testing.TB, whole outcome, log []byte, place int, change byte) {
	damaged := bytes.Clone(log)
	damaged[place] ^= change
	line, lines := bytes.Count(log[:place], []byte("\n"))+1, bytes.Count(log, []byte("\n"))
	assertTruth(tb, fmt.Sprintf("%q instead of %q", damaged[place], log[place]), whole, damaged, line, lines)
}

// FuzzReplayTellsTheTruth damages a log in one place: it cuts a line, or changes a byte.
func FuzzReplayTellsTheTruth(f *testing.F) {
	log := recordedLog(f)
	whole, lines := replayOf(log, "--check"), splitLines(log)
	f.Add(uint(0), byte(0))
	f.Add(uint(700), byte(0x20))
	f.Fuzz(func(t *testing.T, place uint, change byte) {
		at := int(place % uint(len(log)))
		if change != 0 {
			flipByte(t, whole, log, at, change)
			return
		}
		i := bytes.Count(log[:at], []byte("\n"))
		cut := at - len(bytes.Join(lines[:i], nil))
		if cut > 0 && cut < len(lines[i])-1 {
			assertTruth(t, fmt.Sprintf("cut at %d", cut), whole, cutLine(lines, i, cut), i+1, len(lines))
		}
	})
}

// R29b: `--check` says ok only for what it has compared.
func TestCheckSaysOkOnlyForWhatItCompared(t *testing.T) {
	log := recordedLog(t)
	lines := splitLines(log)
	blank := regexp.MustCompile(`"previous_effects":"[0-9a-f]{32}"`).
		ReplaceAll(withoutSums(log), []byte(`"previous_effects":""`))
	for _, c := range []struct {
		name   string
		log    []byte
		status int
		want   string
	}{
		{"whole", log, exitDone, "ok: "},
		{"version 1.0", withoutSums(log), exitDone, "ok: "},
		{"empty", nil, exitFailure, "there is no input to check"},
		{"blank lines", []byte("\n\n\n"), exitFailure, "there is no input to check"},
		{"header", lines[0], exitFailure, "there is no input to check"},
		{"on one line", bytes.ReplaceAll(log, []byte("\n"), nil), exitUsage, "line 1: "},
		{"blank digests", blank, exitFailure, "nothing could be compared"},
		{"one input, killed", bytes.Join(lines[:2], nil), exitFailure, "nothing could be compared"},
		{"restart removed", bytes.Join(append(append([][]byte{}, lines[:restartLine(lines)]...),
			lines[restartLine(lines)+1:]...), nil), exitUsage, fmt.Sprintf("line %d: ", restartLine(lines)+1)},
		{"gzip", []byte("\x1f\x8b\x08\x00"), exitUsage, "compressed by gzip"},
	} {
		got := replayOf(c.log, "--check")
		if got.status != c.status || !strings.Contains(got.errOut+fmt.Sprint(got.err), c.want) ||
			(got.oks > 0) != (c.status == exitDone) {
			t.Errorf("%s: status %d, %v\n%s", c.name, got.status, got.err, got.errOut)
		}
	}
}

func restartLine(lines [][]byte) int {
	for i, line := range lines {
		if bytes.Contains(line, []byte(`"kind":"restart"`)) {
			return i
		}
	}
	return -1
}

// R29b: where a run begins anew, stops or ends is a step of the output.
func TestTurnsAreStepsOfTheOutput(t *testing.T) {
	log := recordedLog(t)
	stopped := regexp.MustCompile(`{"kind":"closing",(.*)"last":\d+`).ReplaceAllString(
		string(withoutSums(log)), `{"kind":"stopped","reason":"the disk is full",$1"last":99`)
	got := replayOf([]byte(stopped))
	var turns []string
	for line := range strings.Lines(got.out) {
		if strings.HasPrefix(line, `{"run":`) {
			turns = append(turns, line[8:strings.Index(line, `",`)])
		}
	}
	if fmt.Sprint(turns) != "[killed restart stopped]" || !strings.Contains(got.out, `"reason":"the disk is full"`) ||
		got.status != exitDone || got.warnings != 2 {
		t.Errorf("%v, status %d\n%s\n%s", turns, got.status, got.errOut, got.out)
	}
	text := replayOf(log, "-o", "text").out
	for _, want := range []string{"RESTART", "END      the run has ended in order", "END      the run has no record"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// brokenPipe takes a few bytes and no more, as head does.
type brokenPipe struct{ room int }

func (b *brokenPipe) Write(p []byte) (int, error) {
	if b.room -= len(p); b.room < 0 {
		return 0, &os.PathError{Op: "write", Path: "pipe", Err: syscall.EPIPE}
	}
	return len(p), nil
}

// Whoever stops reading the steps of a check still gets its answer.
func TestCheckGoesOnWhenNobodyReads(t *testing.T) {
	log := withoutSums(recordedLog(t))
	tampered := bytes.Replace(log, []byte(`"cause":"tls"`), []byte(`"cause":"tlz"`), 1)
	for _, c := range []struct {
		log    []byte
		status int
	}{{log, exitDone}, {tampered, exitFailure}} {
		var errOut bytes.Buffer
		root := newRootCommand(bytes.NewReader(c.log), &brokenPipe{room: 100}, &errOut)
		root.SetArgs([]string{"replay", "-", "--check", "-o", "text"})
		if err := root.ExecuteContext(t.Context()); exitStatus(err) != c.status {
			t.Errorf("status %d instead of %d: %v %s", exitStatus(err), c.status, err, &errOut)
		}
	}
}

// A log that comes slowly is told as it comes; a signal ends the waiting.
func TestReplayOfAnIdlePipe(t *testing.T) {
	lines := splitLines(recordedLog(t))
	in, log := io.Pipe()
	out, steps := io.Pipe()
	ctx, signal := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		root := newRootCommand(in, steps, io.Discard)
		root.SetArgs([]string{"replay", "-", "-o", "json"})
		ended <- root.ExecuteContext(ctx)
	}()
	_, _ = log.Write(lines[0])
	seen := make([]byte, 64<<10)
	for seq, line := range lines[1:5] {
		_, _ = log.Write(line)
		n, err := out.Read(seen)
		if want := fmt.Sprintf(`{"seq":%d,`, seq+1); err != nil || !bytes.HasPrefix(seen[:n], []byte(want)) {
			t.Fatalf("no %s in %q, %v", want, seen[:n], err)
		}
	}
	signal()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("it waits on")
	}
}

// A publication lists the endpoints that are new, or all of them.
func TestReplayListsNewEndpointsOnly(t *testing.T) {
	log := newStoryLog(t)
	log.begin("", podsFrom(0, 40)...)
	for i := range 40 {
		pods := podsFrom(i, i+1)
		pods[0].UID += "-again"
		log.put(changes(pods...))
	}
	path := log.close()
	few, all := replayed(t, path, "-o", "json"), replayed(t, path, "-o", "json", "--full")
	if n, m := strings.Count(few, `"haproxy_version"`), strings.Count(all, `"haproxy_version"`); n != 80 || m < 40*40 {
		t.Errorf("%d endpoints are listed, %d with --full", n, m)
	}
}

// --from and --until include their step, and take numbers and times.
func TestReplayFromAndUntil(t *testing.T) {
	log := newStoryLog(t)
	log.begin("", podsFrom(0, 3)...) // a step each millisecond from 03:04:05.000000006
	path := log.close()
	for _, c := range []struct{ from, until, want string }{
		{"", "2", "1 2"},
		{"3", "4", "3 4"},
		{"5", "", "5 6"},
		{"2026-01-02T03:04:05.002000006Z", "2026-01-02T04:04:05.003000006+01:00", "3 4"},
		{"03:04:05.004", "03:04:05.005", "5"},
		{"03:04", "03:04:05.0015", "1 2"},
		{"-24000h", "2", "1 2"},
	} {
		args := []string{path, "-o", "json"}
		if c.from != "" {
			args = append(args, "--from", c.from)
		}
		if c.until != "" {
			args = append(args, "--until", c.until)
		}
		var seqs []string
		for _, match := range regexp.MustCompile(`\{"seq":(\d+)`).FindAllStringSubmatch(replayed(t, args...), -1) {
			seqs = append(seqs, match[1])
		}
		if strings.Join(seqs, " ") != c.want {
			t.Errorf("--from %q --until %q: %v instead of %s", c.from, c.until, seqs, c.want)
		}
	}
	for _, c := range []struct{ flag, value, want string }{
		{"--until", "0", "--until: 0: steps are numbered from 1"},
		{"--from", "yesterday", `--from: "yesterday" is neither a number nor a time`},
		{"--from", "7", "--from: 7 is behind seq 6"},
	} {
		got := command(t, "", "replay", path, c.flag, c.value)
		if got.status != exitUsage || !strings.Contains(got.errOut, c.want) {
			t.Errorf("%s %s: status %d, %s", c.flag, c.value, got.status, got.errOut)
		}
	}
	piped := replayOf(nil, "--until", "-10m")
	if piped.status != exitUsage || !strings.Contains(fmt.Sprint(piped.err), "needs a file") {
		t.Errorf("%v", piped.err)
	}
}

// Each step names its pods, what its probe or timer is for, and the verdicts before and after.
func TestEveryStepNamesPodPurposeAndVerdict(t *testing.T) {
	log := newStoryLog(t)
	outcomes := []core.Outcome{core.Failure{Cause: core.CauseTLS, Detail: "no"}, core.Answer{Version: "3.4.3"}}
	log.answer = func(core.StartProbe) core.Outcome {
		next := outcomes[0]
		outcomes = outcomes[1:]
		return next
	}
	log.begin("", podsFrom(0, 1)...)
	standing, _ := log.state.Standing(podsFrom(0, 1)[0].Key)
	log.put(core.TimerFired{Timer: standing.RetryTimer})
	path := log.close()
	rest := replayed(t, path, "-o", "text")
	for _, want := range []string{
		"verdict lb/hap-00 unknown -> candidate", "purpose=first_attempt",
		"probe_finished probe=1 pod=lb/hap-00 purpose=first_attempt outcome=failure",
		"verdict lb/hap-00 candidate -> rejected (agent_unreachable)",
		"start_timer", "pod=lb/hap-00 purpose=retry",
		"timer_fired", "pod=lb/hap-00 purpose=retry",
		"verdict lb/hap-00 rejected (agent_unreachable), as before", "start_probe", "purpose=retry",
		"probe_finished probe=2 pod=lb/hap-00 purpose=retry outcome=answer",
		"verdict lb/hap-00 rejected (agent_unreachable) -> admitted",
	} {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Fatalf("no %q in its place in\n%s", want, replayed(t, path, "-o", "text"))
		}
		rest = after
	}
	state := replayed(t, path, "--until", "4", "--state", "--quiet", "-o", "json")
	if !strings.Contains(state, `"verdict":"rejected"`) {
		t.Errorf("the state has another word:\n%s", state)
	}
}
