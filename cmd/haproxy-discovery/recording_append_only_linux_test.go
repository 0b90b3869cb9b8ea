package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// R29a: from a log to which only may be appended nothing is cut. Where it is whole, it goes on; where
// its end is torn, recording stops, which is said once. Discovery runs either way.
func TestLogToWhichOnlyMayBeAppended(t *testing.T) {
	f := newFleet(t, "127.88.0.1")
	pods := list(pod("hap-0", "u0", "127.88.0.1"))
	args := runArgs(f, credentialsDir(t, "admin", password), "--once", "--record")
	first := filepath.Join(t.TempDir(), "inputs.jsonl")
	if got := command(t, pods, append(args, first)...); got.status != 0 {
		t.Fatalf("status %d: %s", got.status, got.errOut)
	}
	whole, err := os.ReadFile(first)
	if err != nil {
		t.Fatal(err)
	}
	for way, protect := range map[string]func(*testing.T, []byte) string{
		"sealed": sealedFile, "append-only": appendOnlyFile,
	} {
		for end, cut := range map[string]int{"whole": 0, "torn": 20} {
			t.Run(way+", "+end, func(t *testing.T) {
				was := string(whole[:len(whole)-cut])
				log := protect(t, []byte(was))
				if log == "" {
					t.Log("no append-only files here; the sealed one stands for it")
					return
				}
				got := command(t, pods, append(args, log)...)
				is, err := os.ReadFile(log)
				if got.status != 0 || !strings.Contains(got.out, `"count":1`) || err != nil {
					t.Fatalf("status %d, %v: %s%s", got.status, err, got.out, got.errOut)
				}
				stopped := strings.Count(got.errOut, "recording has stopped")
				if cut == 0 {
					replayed := command(t, string(is), "replay", "-", "--check", "--quiet")
					if stopped != 0 || !strings.HasPrefix(string(is), was) || len(is) == len(was) ||
						replayed.status != 0 {
						t.Errorf("%s%s", got.errOut, replayed.errOut)
					}
				} else if stopped != 1 || string(is) != was || !strings.Contains(got.errOut, "cutting off") {
					t.Errorf("%d bytes became %d: %s", len(was), len(is), got.errOut)
				}
			})
		}
	}
}

// sealedFile makes a file in memory that does not shrink, which needs no rights.
func sealedFile(t *testing.T, content []byte) string {
	t.Helper()
	descriptor, err := unix.MemfdCreate("inputs.jsonl", unix.MFD_ALLOW_SEALING|unix.MFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	file := os.NewFile(uintptr(descriptor), "inputs.jsonl")
	t.Cleanup(func() { _ = file.Close() })
	if _, err := file.Write(content); err != nil {
		t.Fatal(err)
	}
	if _, err := unix.FcntlInt(uintptr(descriptor), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), descriptor)
}

// appendOnlyFile gives "" where the file system has none, or the user may not make one.
func appendOnlyFile(t *testing.T, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "inputs.jsonl")
	writeFile(t, path, string(content))
	if err := exec.Command("chattr", "+a", path).Run(); err != nil {
		return ""
	}
	t.Cleanup(func() { _ = exec.Command("chattr", "-a", path).Run() })
	return path
}
