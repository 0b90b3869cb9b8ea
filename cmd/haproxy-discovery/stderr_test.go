package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// Nobody reads at first: what does not fit is counted in its place, and the order is kept.
func TestLinesThatNobodyReadsAreCounted(t *testing.T) {
	t.Parallel()
	reader, writer := io.Pipe()
	defer reader.Close()
	w := newLineWriter(writer, len("line 00\n")*3)
	for i := range 10 {
		_, _ = fmt.Fprintf(w, "line %02d\n", i)
	}
	read := make(chan string, 1)
	go func() {
		all, _ := io.ReadAll(reader)
		read <- string(all)
	}()
	w.Close()
	<-w.done
	_ = writer.Close()
	told, lines, last := 0, 0, ""
	all := <-read
	for line := range strings.Lines(all) {
		var n int
		if _, err := fmt.Sscanf(line, "haproxy-discovery: %d lines were dropped", &n); err == nil {
			told += n
			continue
		}
		lines++
		if line <= last || !strings.HasPrefix(line, "line ") {
			t.Errorf("%q after %q", line, last)
		}
		last = line
	}
	if told < 6 || told+lines != 10 {
		t.Errorf("%d lines, %d dropped:\n%s", lines, told, all)
	}
}

// R30, R31: a standard error that nobody reads holds up neither discovery nor the end of it.
func TestUnreadStandardErrorHoldsUpNothing(t *testing.T) {
	f := newFleet(t, "127.88.0.1")
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	fill(t, writer)
	s := startWithErr(t, writer, runArgs(
		f, credentialsDir(t, "admin", password), "--log-level", "debug")...)
	s.send(list(pod("hap-0", "u0", "127.88.0.1")))
	s.awaitFleet("u0")
	s.endInTime()
}

// fill leaves no room in a pipe, and makes it one that blocks, as those of shells do.
func fill(t *testing.T, pipe *os.File) {
	t.Helper()
	fd := int(pipe.Fd())
	if err := syscall.SetNonblock(fd, true); err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{4096, 1} {
		for junk := make([]byte, size); ; {
			if _, err := syscall.Write(fd, junk); err != nil {
				break
			}
		}
	}
	if err := syscall.SetNonblock(fd, false); err != nil {
		t.Fatal(err)
	}
}

// startWithErr is start with a standard error of its own, which is not looked at.
func startWithErr(t *testing.T, errOut *os.File, args ...string) *started {
	t.Helper()
	s := &started{t: t, cmd: exec.Command(binary, args...), lines: make(chan map[string]any, 1000)}
	s.cmd.Stderr = errOut
	var err error
	if s.stdin, err = s.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if s.stdout, err = s.cmd.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	go func() {
		defer close(s.lines)
		events := json.NewDecoder(s.stdout)
		for {
			var event map[string]any
			if events.Decode(&event) != nil {
				return
			}
			s.lines <- event
		}
	}()
	return s
}
