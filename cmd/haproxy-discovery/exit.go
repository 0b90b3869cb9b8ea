package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// The exit statuses: 0 done, 1 runtime failure, 2 usage or unreadable configuration.
const (
	exitDone    = 0
	exitFailure = 1
	exitUsage   = 2
)

// usageError is an error of the one who has called the program.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

// usage wraps an error that names what is wrong with a flag, a file or an argument.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return usageError{err}
}

func usagef(format string, args ...any) error { return usage(fmt.Errorf(format, args...)) }

func exitStatus(err error) int {
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &usageError{}):
		return exitUsage
	default:
		return exitFailure
	}
}

// oneLine joins the lines of an error, and quotes what a terminal would obey: some of it was said by
// others.
func oneLine(err error) string {
	lines := strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\r' })
	var quoted strings.Builder
	for _, r := range strings.Join(lines, "; ") {
		if unicode.IsPrint(r) {
			quoted.WriteRune(r)
		} else {
			quoted.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
	}
	return quoted.String()
}
