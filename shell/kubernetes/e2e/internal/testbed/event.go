package testbed

import "time"

// The kinds of events.
const (
	Discovered = "HAProxyPodsDiscovered"
	Terminated = "HAProxyPodTerminated"
	Rejected   = "HAProxyPodRejected"
)

// Event is a line of the program's standard output, decoded as a user would.
type Event struct {
	Kind string    `json:"event"`
	Time time.Time `json:"time"`

	// Of Discovered. The journal keeps only the last fleet, see Fleet.
	Generation         uint64     `json:"generation"`
	Trigger            string     `json:"trigger"`
	Replay             bool       `json:"replay"`
	CredentialsChanged bool       `json:"credentials_changed"`
	Count              int        `json:"count"`
	Added              []string   `json:"added"`
	Updated            []string   `json:"updated"`
	Removed            []string   `json:"removed"`
	Endpoints          []Endpoint `json:"endpoints"`

	// Of Terminated and Rejected.
	Authority
	Reason  string `json:"reason"`
	Cause   string `json:"cause"`
	Detail  string `json:"detail"`
	Attempt int    `json:"attempt"`

	// Arrived is when we have read the line.
	Arrived time.Time `json:"-"`
}

// Authority is what an endpoint may talk to.
type Authority struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
	RuntimeID string `json:"runtime_id"`
	URL       string `json:"url"`
}

// Endpoint is a member of a published fleet.
type Endpoint struct {
	Authority
	Username string `json:"username"`
	Version  string `json:"haproxy_version"`
}

// Fleet is a published fleet, by the pods' names.
type Fleet map[string]Endpoint

func fleetOf(endpoints []Endpoint) Fleet {
	fleet := make(Fleet, len(endpoints))
	for _, endpoint := range endpoints {
		fleet[endpoint.Name] = endpoint
	}
	return fleet
}

// Consists tells whether the fleet is exactly these pods, by UID.
func (f Fleet) Consists(pods ...*Pod) bool {
	for _, pod := range pods {
		if f[pod.Name].UID != pod.UID {
			return false
		}
	}
	return len(f) == len(pods)
}
