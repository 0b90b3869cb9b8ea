package explore

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain lets the heap grow further between collections, since an exploration makes much garbage,
// but not over what a machine with 16 GiB has to spare.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(10 << 30)
	os.Exit(m.Run())
}
