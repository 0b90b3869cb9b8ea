package main

import (
	"os"
	"syscall"
)

// stoodClosed reports whether a standard stream is what the Go runtime opens for one that is closed:
// /dev/null for reading and writing. A shell that redirects to /dev/null opens it for writing alone.
func stoodClosed(file *os.File) bool {
	var is, null syscall.Stat_t
	if syscall.Fstat(int(file.Fd()), &is) != nil || syscall.Stat(os.DevNull, &null) != nil {
		return false
	}
	flags, _, errno := syscall.Syscall(syscall.SYS_FCNTL, file.Fd(), syscall.F_GETFL, 0)
	return errno == 0 && is.Rdev == null.Rdev && is.Mode&syscall.S_IFMT == syscall.S_IFCHR &&
		flags&syscall.O_ACCMODE == syscall.O_RDWR
}
