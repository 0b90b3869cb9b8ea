//go:build !(darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd)

package inputlog

import "os"

// lock: without flock, that a log has one writer at a time is up to who starts them.
func lock(*os.File) (held bool) { return false }
