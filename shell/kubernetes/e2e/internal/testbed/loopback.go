package testbed

import (
	"math/rand/v2"
	"net/netip"
	"sync"
)

// loopback gives out addresses of one /16 of 127.0.0.0/8, which Linux answers on all of. Processes
// that run at the same time hardly ever draw the same.
var loopback = struct {
	sync.Mutex
	next netip.Addr
}{next: netip.AddrFrom4([4]byte{127, byte(100 + rand.IntN(150)), byte(rand.IntN(200)), 0})}

// NewAddress is a loopback address that nobody in this process has.
func NewAddress() string {
	loopback.Lock()
	defer loopback.Unlock()
	loopback.next = loopback.next.Next()
	return loopback.next.String()
}
