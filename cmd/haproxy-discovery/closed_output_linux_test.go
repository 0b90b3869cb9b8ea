package main

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// A closed standard output is an error at the first event, unless events can be seen elsewhere. One that
// goes to /dev/null was wanted so.
func TestStandardOutputClosedBeforeTheStart(t *testing.T) {
	for _, test := range []struct {
		redirection, flags string
		status             int
		says               string
	}{
		{">&-", "", exitFailure, "standard output is closed"},
		{">&-", "-o json", exitFailure, "standard output is closed"},
		{">&-", "--listen 127.0.0.1:0", exitDone, ""},
		{">/dev/null", "", exitDone, ""},
		{">/dev/full", "", exitFailure, "no space left on device"},
	} {
		t.Run(test.redirection+" "+test.flags, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			script := `exec "$0" demo --pods 2 --duration 1s ` + test.flags + ` ` + test.redirection
			command := exec.CommandContext(ctx, "sh", "-c", script, binary)
			var errOut strings.Builder
			command.Stderr = &errOut
			err := command.Run()
			status := 0
			if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
				status = exit.ExitCode()
			} else if err != nil {
				t.Fatal(err)
			}
			lines := strings.Count(errOut.String(), "haproxy-discovery: ")
			if status != test.status || !strings.Contains(errOut.String(), test.says) ||
				(lines == 1) != (test.status == exitFailure) {
				t.Errorf("status %d, %s", status, errOut.String())
			}
		})
	}
}
