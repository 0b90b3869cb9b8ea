package core

import (
	"fmt"
	"iter"
	"strings"
)

// Endpoint is an admitted agent: whom exactly to talk to, with which credentials, and which
// HAProxy answers there.
type Endpoint struct {
	Identity
	Credentials Credentials
	Version     Version
}

// Fleet is the set of admitted endpoints, ordered by key: an immutable view that costs nothing to
// keep and nothing to copy. The zero value is an empty fleet.
type Fleet struct {
	members     podMap[*member]
	credentials Credentials
}

// member is an admitted identity. The credentials are the fleet's, not the member's: rotating them
// must not touch the members.
type member struct {
	identity Identity
	version  Version
}

// Len is the number of endpoints.
func (f Fleet) Len() int { return f.members.Len() }

// String lists the keys: "2 endpoints: lb/hap-0, lb/hap-1".
func (f Fleet) String() string {
	keys := make([]string, 0, f.Len())
	for endpoint := range f.All() {
		keys = append(keys, endpoint.Key().String())
	}
	return fmt.Sprintf("%d endpoints: %s", len(keys), strings.Join(keys, ", "))
}

// MarshalText is String, so that a fleet that is logged, in JSON too, is not taken for an empty one.
func (f Fleet) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// Credentials are those of all endpoints.
func (f Fleet) Credentials() Credentials { return f.credentials }

// Get finds the endpoint of a pod.
func (f Fleet) Get(key PodKey) (Endpoint, bool) {
	m, found := f.members.Get(key)
	if !found {
		return Endpoint{}, false
	}
	return f.endpoint(m), true
}

// All iterates over the endpoints in the order of their keys.
func (f Fleet) All() iter.Seq[Endpoint] {
	return func(yield func(Endpoint) bool) {
		for m := range f.members.All() {
			if !yield(f.endpoint(m)) {
				return
			}
		}
	}
}

// Endpoints copies the fleet into a slice, in the order of the keys.
func (f Fleet) Endpoints() []Endpoint {
	endpoints := make([]Endpoint, 0, f.Len())
	for endpoint := range f.All() {
		endpoints = append(endpoints, endpoint)
	}
	return endpoints
}

func (f Fleet) endpoint(m *member) Endpoint {
	return Endpoint{Identity: m.identity, Credentials: f.credentials, Version: m.version}
}

// FleetDiff tells how a fleet differs from an older one; the lists are in the order of the keys. A
// pod whose identity has changed is in Removed and in Added.
type FleetDiff struct {
	Added   []PodKey
	Updated []PodKey
	Removed []PodKey
}

// DiffFrom compares the fleet with an older one, in time proportional to their sizes.
func (f Fleet) DiffFrom(older Fleet) FleetDiff {
	var diff FleetDiff
	for was := range older.members.All() {
		key := was.identity.Key()
		if is, found := f.members.Get(key); !found || is.identity != was.identity {
			diff.Removed = append(diff.Removed, key)
		}
	}
	for is := range f.members.All() {
		key := is.identity.Key()
		switch was, found := older.members.Get(key); {
		case !found || was.identity != is.identity:
			diff.Added = append(diff.Added, key)
		case was.version != is.version:
			diff.Updated = append(diff.Updated, key)
		}
	}
	return diff
}

// Changed lists, in the order of their keys, the pods whose endpoints are not those of another
// fleet, whatever its credentials are. It may list one whose endpoint was made anew as it was.
func (f Fleet) Changed(older Fleet) []PodKey {
	return changedKeys(f.members, older.members,
		func(m *member) PodKey { return m.identity.Key() })
}

// NewFleet builds a fleet from endpoints in any order; of two with the same key, the last one
// counts. For tests of consumers; discovery itself never builds a fleet anew.
func NewFleet(credentials Credentials, endpoints ...Endpoint) Fleet {
	fleet := Fleet{credentials: credentials}
	for _, e := range endpoints {
		fleet.members = fleet.members.Set(e.Key(), &member{identity: e.Identity, version: e.Version})
	}
	return fleet
}
