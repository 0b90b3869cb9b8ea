package main

import (
	"errors"
	"io"
	"os"
)

// errOutputClosed is the first event's error where nobody can ever see one.
var errOutputClosed = errors.New("standard output is closed")

// closedOutput fails instead of writing into nothing.
type closedOutput struct{}

func (closedOutput) Write([]byte) (int, error) { return 0, errOutputClosed }

// heard gives an output that fails if it was closed before the start, unless there is another way to
// learn of what happens. The Go runtime opens /dev/null in its place, so that no write would fail.
func heard(out io.Writer, otherwise bool) io.Writer {
	if file, isFile := out.(*os.File); isFile && !otherwise && stoodClosed(file) {
		return closedOutput{}
	}
	return out
}
