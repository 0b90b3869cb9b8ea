package main

import (
	"errors"
	"testing"
)

// What others have said reaches the terminal as one line that it does not obey.
func TestOneLine(t *testing.T) {
	err := errors.Join(errors.New("ü \x1b[2J\a"), errors.New("second\r\n\tline"))
	if got, want := oneLine(err), `ü \x1b[2J\a; second; \tline`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
