package core

import (
	"net/netip"
	"strconv"
)

// RuntimeID is the container execution epoch of a pod: it changes whenever one of its containers, or
// the agent as a native sidecar, is replaced by another, as a restart does it. A hash of names and
// container IDs, computed by ReadPod; 64 hexadecimal digits.
type RuntimeID string

// Identity is what exactly an endpoint speaks to: the key of the admission cache and the authority
// of an endpoint. Two candidates may share a URL (host network, an IP that was given away before
// the old object changed), never an identity.
type Identity struct {
	Namespace string
	Name      string
	UID       string
	RuntimeID RuntimeID
	URL       string
}

// Key is the pod's key.
func (i Identity) Key() PodKey { return PodKey{Namespace: i.Namespace, Name: i.Name} }

// agentURL is scheme://ip:port, with brackets around IPv6; no user info, no path.
func agentURL(scheme string, ip netip.Addr, port int) string {
	host := ip.String()
	if ip.Is6() {
		host = "[" + host + "]"
	}
	return scheme + "://" + host + ":" + strconv.Itoa(port)
}

func identityOf(pod *Pod, scheme string, port int) Identity {
	return Identity{
		Namespace: pod.Key.Namespace,
		Name:      pod.Key.Name,
		UID:       pod.UID,
		RuntimeID: pod.RuntimeID,
		URL:       agentURL(scheme, pod.IP, port),
	}
}
