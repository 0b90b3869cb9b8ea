// Package output prints events and replayed steps: as JSON Lines for programs, as text for people.
package output

import (
	"slices"
	"time"

	"github.com/samber/lo"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// The JSON forms of the events are a contract with users; their fields are never renamed.

type discoveredJSON struct {
	Event              string         `json:"event"`
	Time               string         `json:"time"`
	Generation         uint64         `json:"generation"`
	Trigger            core.Trigger   `json:"trigger"`
	Replay             bool           `json:"replay"`
	CredentialsChanged bool           `json:"credentials_changed"`
	Count              int            `json:"count"`
	Added              []string       `json:"added"`
	Updated            []string       `json:"updated"`
	Removed            []string       `json:"removed"`
	Endpoints          []endpointJSON `json:"endpoints"`
}

type endpointJSON struct {
	Namespace    string         `json:"namespace"`
	Name         string         `json:"name"`
	UID          string         `json:"uid"`
	RuntimeID    core.RuntimeID `json:"runtime_id"`
	URL          string         `json:"url"`
	Username     string         `json:"username"`
	Version      string         `json:"haproxy_version"`
	VersionMajor int            `json:"haproxy_major"`
	VersionMinor int            `json:"haproxy_minor"`
}

type terminatedJSON struct {
	Event     string         `json:"event"`
	Time      string         `json:"time"`
	Namespace string         `json:"namespace"`
	Name      string         `json:"name"`
	UID       string         `json:"uid"`
	RuntimeID core.RuntimeID `json:"runtime_id"`
	URL       string         `json:"url"`
	Cause     core.Cause     `json:"cause"`
}

type rejectedJSON struct {
	Event     string      `json:"event"`
	Time      string      `json:"time"`
	Namespace string      `json:"namespace"`
	Name      string      `json:"name"`
	UID       string      `json:"uid"`
	Reason    core.Reason `json:"reason"`
	Cause     core.Cause  `json:"cause"`
	Detail    string      `json:"detail"`
	Attempt   int         `json:"attempt"`
	RetryInMS int64       `json:"retry_in_ms"`
}

// eventJSON gives the value whose JSON encoding is the event's line. A publication lists all its
// endpoints, or only those added or updated.
func eventJSON(at time.Time, event core.Event, full bool) any {
	when := at.UTC().Format(time.RFC3339Nano)
	switch e := event.(type) {
	case core.HAProxyPodsDiscovered:
		return discoveredJSON{
			Event: "HAProxyPodsDiscovered", Time: when,
			Generation: e.Generation, Trigger: e.Trigger, Replay: e.Replay,
			CredentialsChanged: e.CredentialsChanged, Count: e.Fleet.Len(),
			Added: keyTexts(e.Added), Updated: keyTexts(e.Updated), Removed: keyTexts(e.Removed),
			Endpoints: lo.Map(endpointsOf(e, full), endpointOf),
		}
	case core.HAProxyPodTerminated:
		return terminatedJSON{
			"HAProxyPodTerminated", when, e.Namespace, e.Name, e.UID, e.RuntimeID, e.URL, e.Cause,
		}
	case core.HAProxyPodRejected:
		return rejectedJSON{
			"HAProxyPodRejected", when, e.Namespace, e.Name, e.UID,
			e.Reason, e.Cause, e.Detail, e.Attempt, e.RetryIn.Milliseconds(),
		}
	default:
		return nil
	}
}

func endpointsOf(e core.HAProxyPodsDiscovered, full bool) []core.Endpoint {
	if full {
		return e.Fleet.Endpoints()
	}
	var endpoints []core.Endpoint
	for _, key := range slices.SortedFunc(slices.Values(slices.Concat(e.Added, e.Updated)), core.PodKey.Compare) {
		if endpoint, found := e.Fleet.Get(key); found {
			endpoints = append(endpoints, endpoint)
		}
	}
	return endpoints
}

func keyTexts(keys []core.PodKey) []string {
	return lo.Map(keys, func(key core.PodKey, _ int) string { return key.String() })
}

func endpointOf(e core.Endpoint, _ int) endpointJSON {
	return endpointJSON{
		e.Namespace, e.Name, e.UID, e.RuntimeID, e.URL,
		e.Credentials.Username(), e.Version.Text, e.Version.Major, e.Version.Minor,
	}
}
