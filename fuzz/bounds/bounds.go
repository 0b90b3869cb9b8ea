// Package bounds holds what reads bytes from outside to a bounded time and to a bounded amount of
// memory. The fuzz targets next to that code use it.
package bounds

import (
	"fmt"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"
)

const (
	// Slack is allowed for any input, however short: the runtime books small allocations in spans.
	Slack = 1 << 20
	// patience is far more than any input takes on a machine that is busy.
	patience = 20 * time.Second
	attempts = 3
)

// Hold runs a function that handles an input, and fails the test if it allocates more than Slack
// plus perByte for each of the input's bytes. Other goroutines may allocate as well, so the function
// runs up to three times before it is blamed, and has to do the same each time.
//
// A function that hangs takes the process down with all stacks: a fuzzer then keeps the input.
func Hold(t testing.TB, inputBytes, perByte int, run func()) {
	t.Helper()
	watchdog := time.AfterFunc(patience, func() {
		debug.SetTraceback("all")
		panic(fmt.Sprintf("an input of %d bytes has taken over %v", inputBytes, patience))
	})
	defer watchdog.Stop()
	limit := uint64(Slack + inputBytes*perByte)
	var used uint64
	for range attempts {
		before := allocated()
		run()
		if used = allocated() - before; used <= limit {
			return
		}
	}
	t.Errorf("%d bytes are allocated for an input of %d; the limit is %d", used, inputBytes, limit)
}

// allocated is the number of bytes allocated so far, those freed again included. Reading it does
// not stop the world.
func allocated() uint64 {
	sample := [1]metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample[:])
	return sample[0].Value.Uint64()
}
