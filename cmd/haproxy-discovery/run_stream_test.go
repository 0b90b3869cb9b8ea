package main

import (
	"bytes"
	"compress/gzip"
	byteorder "encoding/binary"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf16"
)

// part is a list as the API hands it out in parts.
func part(next string, pods ...string) string {
	return fmt.Sprintf(`{"kind":"PodList","apiVersion":"v1","metadata":{"continue":%q,`+
		`"remainingItemCount":1},"items":[%s]}`, next, strings.Join(pods, ",")) + "\n"
}

const deployment = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"lb"}}`

// noTermination fails if an event of the command so far was one.
func (s *started) noTermination() {
	s.t.Helper()
	for _, event := range s.seen {
		if event["event"] == "HAProxyPodTerminated" {
			s.t.Errorf("terminated: %v", event)
		}
	}
}

// The parts of a list are joined: until the last has come, absence does not count.
func TestR6PartsOfAListAreJoined(t *testing.T) {
	f := newFleet(t, "127.88.0.1", "127.88.0.2", "127.88.0.3")
	a, b, c := pod("hap-a", "ua", "127.88.0.1"), pod("hap-b", "ub", "127.88.0.2"), pod("hap-c", "uc", "127.88.0.3")
	s := start(t, runArgs(f, credentialsDir(t, "admin", password))...)
	s.send(part("abc", a) + part("", b))
	s.awaitFleet("ua", "ub")
	s.awaitStderr(`msg="initial pods are complete" by=list pods=2`)
	s.send(part("abc", c)) // nothing is known of a and b yet
	s.awaitFleet("ua", "ub", "uc")
	s.awaitStderr("another part of it follows, and none has")
	s.noTermination()
	s.send(part("", a)) // the last part: b is in none of them
	s.await("T(ub)", func(e map[string]any) bool { return e["uid"] == "ub" && e["cause"] == "deleted" })
	s.awaitFleet("ua", "uc")
}

// A part that could not be read makes the whole list one that is believed in what it holds.
func TestR6LostPartRetiresNothing(t *testing.T) {
	f := newFleet(t, "127.88.0.1", "127.88.0.2", "127.88.0.3")
	a, b, c := pod("hap-a", "ua", "127.88.0.1"), pod("hap-b", "ub", "127.88.0.2"), pod("hap-c", "uc", "127.88.0.3")
	s := start(t, runArgs(f, credentialsDir(t, "admin", password))...)
	s.send(list(a, b))
	s.awaitFleet("ua", "ub")
	s.send(part("x", a) + part("y", b)[:100] + "\n" + part("", c))
	s.awaitFleet("ua", "ub", "uc")
	s.awaitStderr("a list could not be read as a whole")
	s.noTermination()
}

func TestR6PartAloneIsBelievedInWhatItHolds(t *testing.T) {
	f := newFleet(t, "127.88.0.1")
	got := command(t, part("abc", pod("hap-a", "ua", "127.88.0.1")),
		runArgs(f, credentialsDir(t, "admin", password), "--once")...)
	if got.status != 0 || !strings.Contains(got.out, `"count":1`) ||
		!strings.Contains(got.errOut, "another part of it follows, and none has") {
		t.Errorf("status %d:\n%s%s", got.status, got.out, got.errOut)
	}
}

// A list with items that are no pods lacks pods for all one knows.
func TestR6ListWithOtherItemsRetiresNothing(t *testing.T) {
	f := newFleet(t, "127.88.0.1")
	var pods, uids []string
	for i := range 7 {
		uids = append(uids, fmt.Sprintf("u%d", i))
		pods = append(pods, pod(fmt.Sprintf("hap-%d", i), uids[i], "127.88.0.1"))
	}
	for name, item := range map[string]string{
		"Deployment": deployment, "null": "null", "text": `"x"`, "no name": `{"kind":"Pod","metadata":{"uid":"u"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, runArgs(f, credentialsDir(t, "admin", password))...)
			s.send(list(pods...))
			s.awaitFleet(uids...)
			s.send(list(item))
			s.awaitStderr("a list could not be read as a whole")
			s.send(watchEvent("ADDED", pod("hap-7", "u7", "127.88.0.1")))
			s.awaitFleet(append(uids[:7:7], "u7")...)
			s.noTermination()
			s.send(list(pods[0])) // and a whole one counts again
			s.awaitFleet("u0")
		})
	}
}

func gzipped(text string) string {
	var out bytes.Buffer
	writer := gzip.NewWriter(&out)
	_, _ = writer.Write([]byte(text))
	_ = writer.Close()
	return out.String()
}

func inUTF16(order byteorder.ByteOrder, mark bool, text string) string {
	if mark {
		text = "\ufeff" + text
	}
	var out []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		out = append(out, 0, 0)
		order.PutUint16(out[len(out)-2:], unit)
	}
	return string(out)
}

// Whatever is no output of kubectl -o json publishes nothing, not even an empty fleet: with --once
// it is a failure.
func TestInputThatIsNoJSONOfKubectl(t *testing.T) {
	f := newFleet(t, "127.88.0.1")
	whole := list(pod("hap-0", "u0", "127.88.0.1"))
	for name, test := range map[string]struct{ input, says string }{
		"empty":          {"", "the input is empty"},
		"YAML":           {"apiVersion: v1\nitems:\n- kind: Pod\n", "looks like YAML; give kubectl -o json"},
		"YAML document":  {"---\r\nkind: Pod\r\n", "looks like YAML; give kubectl -o json"},
		"table":          {"NAME    READY   STATUS\nhap-0   2/2     Running\n", "looks like a table; give kubectl -o json"},
		"wide table":     {"NAMESPACE   NAME    READY\nlb   hap-0   2/2\n", "looks like a table; give kubectl -o json"},
		"names":          {"pod/hap-0\n", "looks like a list of names; give kubectl -o json"},
		"nothing found":  {"No resources found in lb namespace.\n", "having found nothing; give kubectl -o json"},
		"error":          {"Error from server (Forbidden): pods is forbidden\n", "looks like an error of kubectl"},
		"truncated list": {whole[:len(whole)-20], "cut off by the end of input"},
		"gzip":           {gzipped(whole), "looks like gzip; unpack it"},
		"UTF-16LE":       {inUTF16(byteorder.LittleEndian, true, whole), "looks like UTF-16; save it as UTF-8"},
		"UTF-16BE":       {inUTF16(byteorder.BigEndian, true, whole), "looks like UTF-16; save it as UTF-8"},
		"unmarked LE":    {inUTF16(byteorder.LittleEndian, false, whole), "looks like UTF-16; save it as UTF-8"},
		"unmarked BE":    {inUTF16(byteorder.BigEndian, false, whole), "looks like UTF-16; save it as UTF-8"},
		"JSON array":     {"[" + pod("hap-0", "u0", "127.88.0.1") + "]", "looks like a JSON array; give kubectl -o json"},
		"other kind":     {list(deployment), `kind "Deployment", name "web" is no v1 Pod`},
		"Status":         {`{"kind":"Status","code":403,"reason":"Forbidden"}`, "a Status instead of a Pod: code 403"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := credentialsDir(t, "admin", password)
			got := command(t, test.input, runArgs(f, dir, "--once")...)
			last := got.errOut[strings.LastIndex(strings.TrimSpace(got.errOut), "\n")+1:]
			if got.status != 1 || got.out != "" || !strings.Contains(last, test.says) ||
				!strings.HasPrefix(last, "haproxy-discovery: reading pods: ") {
				t.Errorf("status %d:\n%s%s", got.status, got.out, got.errOut)
			}
		})
	}
}

// A kubectl that dies at once is no empty cluster: the gate stays closed, and the program goes on.
func TestInputThatEndsAtOnceOpensNoGate(t *testing.T) {
	f := newFleet(t, "127.88.0.1")
	s := start(t, runArgs(f, credentialsDir(t, "admin", password), "--drift-interval", "20ms")...)
	_ = s.stdin.Close()
	s.awaitStderr("nothing is probed or published")
	time.Sleep(100 * time.Millisecond) // some drift ticks: they would publish
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	if status := s.end(); status != 0 || len(s.lines) > 0 || strings.Contains(s.stderr(), "are complete") {
		t.Errorf("status %d: %s", status, s.stderr())
	}
}

// A file ends as a stream does: the fleet stands, and the view grows old.
func TestEndOfAFileIsToldLikeThatOfAStream(t *testing.T) {
	f := newFleet(t, "127.88.0.1")
	file := filepath.Join(t.TempDir(), "pods.json")
	writeFile(t, file, list(pod("hap-0", "u0", "127.88.0.1")))
	s := start(t, append(runArgs(f, credentialsDir(t, "admin", password), "--listen", "127.0.0.1:0"),
		"--pods-from", file)...)
	s.awaitFleet("u0")
	s.awaitStderr("the stream of pods has ended; the last fleet stands")
	url := servedAt(s)
	awaitText(t, url+"/debug/fleet", `"state": "has ended"`, "nothing more is learned")
	awaitText(t, url+"/metrics", `haptic_discovery_source_up{source="pods"} 0`)
}

// R3: what no pod's name can be costs no other pod anything.
func TestR3PodWithATooLongNameIsDropped(t *testing.T) {
	f := newFleet(t, "127.88.0.1")
	for _, size := range []int{254, 65_532, 65_534, 65_536} {
		long := pod(strings.Repeat("x", size), "u1", "127.88.0.1")
		got := command(t, pod("a", "u0", "127.88.0.1")+"\n"+long+"\n"+list(pod("a", "u0", "127.88.0.1"), long),
			runArgs(f, credentialsDir(t, "admin", password), "--once")...)
		if got.status != 0 || !strings.Contains(got.out, `"count":1`) ||
			!strings.Contains(got.errOut, "more than 253 bytes") || len(got.errOut) > 4000 {
			t.Errorf("%d bytes: status %d:\n%s%.4000s", size, got.status, got.out, got.errOut)
		}
	}
}
