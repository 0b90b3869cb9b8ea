package explore

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain lets the heap grow further between collections, since an exploration makes much garbage.
// From 10 GiB on, it is collected more often, which slows it down but bounds nothing: what is in use
// stays, and the largest worlds need some 12 GiB.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(10 << 30)
	os.Exit(m.Run())
}
