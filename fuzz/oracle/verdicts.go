package oracle

import (
	"cmp"
	"net/netip"
	"strconv"
	"strings"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// verdictOf reads R1, R3 and R2 in the order in which they are asked: the first line that fits.
func (o *Oracle) verdictOf(pod *core.Pod) core.Verdict {
	ignored := func(cause core.Cause) core.Verdict {
		return core.Verdict{Kind: core.Ignored, Cause: cause}
	}
	rejected := func(reason core.Reason, cause core.Cause) core.Verdict {
		return core.Verdict{Kind: core.Rejected, Reason: reason, Cause: cause}
	}
	readable := func(fact core.Facts) bool { return pod.Unreadable&fact == 0 }
	switch {
	case !o.facts.gateOpen:
		return core.Verdict{}
	case pod.Terminating:
		return ignored("terminating")
	case readable(core.FactPhase) && pod.Phase != "Running":
		return ignored("not_running")
	case readable(core.FactLabels) && !o.facts.selects(pod.Labels):
		return ignored("deselected")
	case readable(core.FactIP) && pod.IP == netip.Addr{}:
		return ignored("no_ip")
	case pod.Malformed != "", pod.IP == netip.Addr{}:
		return rejected("malformed_pod", "malformed")
	case pod.IP.Zone() != "", pod.IP == netip.IPv4Unspecified(), pod.IP == netip.IPv6Unspecified():
		return rejected("malformed_pod", "malformed")
	case pod.Agent == "waiting":
		return rejected("agent_container_not_running", "waiting")
	case pod.Agent == "terminated":
		return rejected("agent_container_not_running", "terminated")
	case pod.Agent != "running":
		return rejected("agent_container_not_running", "missing")
	default:
		return core.Verdict{Kind: core.IsCandidate}
	}
}

// identityOf is whom exactly a candidate's endpoint speaks to.
func (o *Oracle) identityOf(pod *core.Pod) core.Identity {
	return core.Identity{
		Namespace: pod.Key.Namespace, Name: pod.Key.Name,
		UID: pod.UID, RuntimeID: pod.RuntimeID, URL: o.urlOf(pod.IP),
	}
}

// urlOf is scheme://address:port, made once for each address and port.
func (o *Oracle) urlOf(ip netip.Addr) string {
	address := netip.AddrPortFrom(ip, uint16(o.facts.config.AgentPort))
	url, known := o.urls[address]
	if !known {
		url = cmp.Or(o.config.AgentScheme, "http") + "://" + address.String()
		o.urls[address] = url
	}
	return url
}

// versionOf reads what an agent says of its HAProxy: v3.4-dev2 is major 3, minor 4.
func versionOf(answer core.Answer) core.Version {
	text := answer.Version
	if text == "" {
		text = answer.FullVersion
	}
	version := core.Version{Text: text}
	major, rest, dotted := strings.Cut(strings.TrimPrefix(text, "v"), ".")
	minor := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
	allDigits := strings.Trim(major, "0123456789") == ""
	short := func(number string) bool { return len(number) >= 1 && len(number) <= 4 }
	if dotted && allDigits && short(major) && short(minor) {
		version.Major, _ = strconv.Atoi(major)
		version.Minor, _ = strconv.Atoi(minor)
	}
	return version
}

// sameFacts compares two pods field by field.
func sameFacts(a, b *core.Pod) bool {
	if a == b {
		return true
	}
	if len(a.Labels) != len(b.Labels) {
		return false
	}
	for name, value := range a.Labels {
		if other, has := b.Labels[name]; !has || other != value {
			return false
		}
	}
	return a.Key == b.Key && a.UID == b.UID && a.IP == b.IP && a.Phase == b.Phase &&
		a.Terminating == b.Terminating && a.Agent == b.Agent && a.RuntimeID == b.RuntimeID &&
		a.NoAgent == b.NoAgent && a.Malformed == b.Malformed && a.Unreadable == b.Unreadable
}

func compareKeys(a, b core.PodKey) int {
	if byNamespace := strings.Compare(a.Namespace, b.Namespace); byNamespace != 0 {
		return byNamespace
	}
	return strings.Compare(a.Name, b.Name)
}
