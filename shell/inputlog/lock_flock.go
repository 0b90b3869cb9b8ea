//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package inputlog

import (
	"errors"
	"os"
	"syscall"
)

// lock keeps other writers off a file until it is closed, or its process has died. held tells that
// one of them has it. A file system that knows no locks is no reason not to record.
func lock(file *os.File) (held bool) {
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			return errors.Is(err, syscall.EWOULDBLOCK)
		}
	}
}
