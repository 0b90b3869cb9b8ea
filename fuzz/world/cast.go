package world

import (
	"fmt"
	"net/netip"
	"strconv"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// The cast of all runs: names, addresses and the like are made once.

const (
	maxSlots = 64
	maxIPs   = 80
)

var (
	slotKeys  [maxSlots]core.PodKey
	slotOf    = map[core.PodKey]int{}
	addresses [maxIPs]netip.Addr
	// addressOf finds the address of a URL.
	addressOf = map[string]netip.Addr{}
	ports     = [...]int{5555, 5556}
	texts     [4096]string
)

var labelSets = [...]map[string]string{
	{"app": "lb"},
	{"app": "lb", "tier": "edge"},
	{"app": "lb", "tier": "old"},
	{"app": "web"},
	nil,
}

var versions = [...]core.Answer{
	{Version: "3.4.3", FullVersion: "3.4.3-1"},
	{FullVersion: "v3.3.5 8467a253"},
	{Version: "3.5-dev2-abc"},
	{Version: "what?"},
}

func init() {
	for i := range slotKeys {
		namespace := "lb"
		if i%8 == 7 {
			namespace = "edge"
		}
		slotKeys[i] = core.PodKey{Namespace: namespace, Name: fmt.Sprintf("hap-%02d", i)}
		slotOf[slotKeys[i]] = i
	}
	for i := range addresses {
		addresses[i] = netip.AddrFrom4([4]byte{10, 1, 0, byte(1 + i)})
		if i%10 == 9 {
			addresses[i] = netip.AddrFrom16([16]byte{0: 0xfd, 15: byte(1 + i)})
		}
		for _, port := range ports {
			host := netip.AddrPortFrom(addresses[i], uint16(port)).String()
			addressOf["http://"+host] = addresses[i]
			addressOf["https://"+host] = addresses[i]
		}
	}
	for i := range texts {
		texts[i] = strconv.Itoa(i)
	}
}

// numbered is a text that no other number has.
func numbered(n int) string {
	if n < len(texts) {
		return texts[n]
	}
	return strconv.Itoa(n)
}
