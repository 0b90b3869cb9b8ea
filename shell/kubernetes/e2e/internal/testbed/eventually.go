package testbed

import (
	"testing"
	"time"
)

// Eventually looks until it holds.
func Eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(Patience)
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %v", what, Patience)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
