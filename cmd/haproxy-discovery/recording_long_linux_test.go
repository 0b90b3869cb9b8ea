package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// R29a: to append to a log takes neither time nor memory that grows with it, whatever a crash of the
// machine has left at its end.
func TestStartWithALongLog(t *testing.T) {
	const half, repeats = 32 << 20, 5
	f := newFleet(t, "127.88.0.1")
	pods := list(pod("hap-0", "u0", "127.88.0.1"))
	args := runArgs(f, credentialsDir(t, "admin", password), "--record")
	folder := t.TempDir()
	short := filepath.Join(folder, "short")
	if got := command(t, pods, append(args, short, "--once")...); got.status != 0 {
		t.Fatalf("status %d: %s", got.status, got.errOut)
	}
	content, err := os.ReadFile(short)
	if err != nil {
		t.Fatal(err)
	}
	// What is between the header and the last records is not looked at.
	header, records, _ := bytes.Cut(content, []byte("\n"))
	long := slices.Concat(header, []byte("\n"), bytes.Repeat(records, half/len(records)+1))
	var without, with []time.Duration
	var memoryWithout, memoryWith int64
	for i := range repeats {
		path := filepath.Join(folder, fmt.Sprint("log-", i))
		took, memory := measureStart(t, pods, slices.Concat(args, []string{path + "-new"}))
		without, memoryWithout = append(without, took), max(memoryWithout, memory)
		writeFile(t, path, string(long))
		if err := os.Truncate(path, 2*half); err != nil { // a hole, which reads as NUL
			t.Fatal(err)
		}
		took, memory = measureStart(t, pods, slices.Concat(args, []string{path}))
		with, memoryWith = append(with, took), max(memoryWith, memory)
		info, err := os.Stat(path)
		if err != nil || info.Size() <= int64(len(long)) || info.Size() > int64(len(long)+2*len(content)) {
			t.Fatalf("appended to %d bytes: %v, %v", len(long), info, err)
		}
		_ = os.Remove(path)
	}
	slices.Sort(without)
	slices.Sort(with)
	base, got := without[repeats/2], with[repeats/2]
	t.Logf("%v and %d MB without, %v and %d MB with", base, memoryWithout>>20, got, memoryWith>>20)
	if got > 2*base+100*time.Millisecond {
		t.Errorf("a start takes %v, without a log %v", got, base)
	}
	if memoryWith > memoryWithout+16<<20 {
		t.Errorf("a start takes %d MB, without a log %d", memoryWith>>20, memoryWithout>>20)
	}
}

// measureStart gives the time until the fleet is known and the memory up to then, in bytes. What the
// kernel tells of a program that has ended includes the memory of the one that has started it.
func measureStart(t *testing.T, pods string, args []string) (time.Duration, int64) {
	t.Helper()
	begun := time.Now()
	run := start(t, args...)
	run.send(pods)
	run.awaitFleet("u0")
	took := time.Since(begun)
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", run.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	var kilobytes int64
	_, peak, _ := strings.Cut(string(status), "VmHWM:")
	if _, err := fmt.Sscan(peak, &kilobytes); err != nil {
		t.Fatal(err)
	}
	_ = run.cmd.Process.Signal(syscall.SIGTERM)
	if status, said := run.end(), run.stderr(); status != 0 ||
		strings.Contains(said, "recording has stopped") || strings.Contains(said, "set-aside") {
		t.Fatalf("status %d: %s", status, said)
	}
	return took, kilobytes << 10
}
