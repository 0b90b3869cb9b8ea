package core_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/samber/lo"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

func endpoint(namespace, name, uid, version string) core.Endpoint {
	return core.Endpoint{
		Identity: core.Identity{
			Namespace: namespace, Name: name, UID: uid, RuntimeID: "r1", URL: "http://10.1.0.10:5555",
		},
		Version: core.ParseVersion(version),
	}
}

func keysOf(endpoints []core.Endpoint) []core.PodKey {
	return lo.Map(endpoints, func(e core.Endpoint, _ int) core.PodKey { return e.Key() })
}

// By namespace, then by name, as PodKey.Compare has it: whatever the names hold, and never by the
// joined text, in which a-b/x comes before a/x.
func TestFleetIsOrderedByNamespaceThenName(t *testing.T) {
	var endpoints []core.Endpoint
	var keys []core.PodKey
	namespaces := []string{"", "\x00", "\x00\x01", "a", "a\x00", "a\x00\x01", "a\x00\xff", "a\x01",
		"a\xff", "a-b", "a.b", "ab", "b", "\xff"}
	for _, namespace := range namespaces {
		for _, name := range []string{
			"", "\x00", "\x00\x01x", "a", "a\x00", "b", "x", "x-0", "x/0", "\xff",
		} {
			endpoints = append(endpoints, endpoint(namespace, name, "u", "3.4"))
			keys = append(keys, core.PodKey{Namespace: namespace, Name: name})
		}
	}
	slices.SortFunc(keys, core.PodKey.Compare)
	for _, order := range [][]core.Endpoint{endpoints, reversed(endpoints)} {
		fleet := core.NewFleet(core.Credentials{}, order...)
		if diff := cmp.Diff(keys, keysOf(fleet.Endpoints())); diff != "" {
			t.Errorf("- PodKey.Compare, + fleet:\n%s", diff)
		}
		for _, key := range keys {
			if found, has := fleet.Get(key); !has || found.Key() != key {
				t.Errorf("%q is not found", key)
			}
		}
	}
}

func reversed(endpoints []core.Endpoint) []core.Endpoint {
	endpoints = slices.Clone(endpoints)
	slices.Reverse(endpoints)
	return endpoints
}

func TestFleetAnswers(t *testing.T) {
	basic := credentials(t, "admin", "a-pass")
	fleet := core.NewFleet(basic,
		endpoint("a-b", "x", "u1", "3.4"), endpoint("a", "z", "u2", ""), endpoint("a", "z", "u3", "3.5"))
	if fleet.Len() != 2 || fleet.Credentials() != basic {
		t.Errorf("%d endpoints as %v", fleet.Len(), fleet.Credentials())
	}
	found, has := fleet.Get(core.PodKey{Namespace: "a", Name: "z"})
	if !has || found.UID != "u3" || found.Credentials != basic || found.Version.Minor != 5 {
		t.Errorf("got %v, %v: the last of two endpoints with the same key counts", found, has)
	}
	if _, has := fleet.Get(core.PodKey{Namespace: "a", Name: "x"}); has {
		t.Error("found an endpoint that is not there")
	}
	var first []core.Endpoint
	for e := range fleet.All() {
		first = append(first, e)
		break
	}
	if diff := cmp.Diff([]core.PodKey{{Namespace: "a", Name: "z"}}, keysOf(first)); diff != "" {
		t.Errorf("an iteration that is left early:\n%s", diff)
	}
	var none core.Fleet
	if none.Len() != 0 || len(none.Endpoints()) != 0 {
		t.Error("the zero fleet is not empty")
	}
	copied := fleet.Endpoints()
	copied[0].UID = "changed"
	if fleet.Endpoints()[0].UID == "changed" {
		t.Error("changing the slice has changed the fleet")
	}
}

func TestFleetDiffFrom(t *testing.T) {
	key := func(name string) core.PodKey { return core.PodKey{Namespace: "lb", Name: name} }
	older := core.NewFleet(credentials(t, "admin", "a"),
		endpoint("lb", "gone", "u1", "3.4"), endpoint("lb", "kept", "u2", "3.4"),
		endpoint("lb", "replaced", "u3", "3.4"), endpoint("lb", "upgraded", "u4", ""))
	newer := core.NewFleet(credentials(t, "admin", "b"),
		endpoint("lb", "kept", "u2", "3.4"), endpoint("lb", "new", "u5", "3.4"),
		endpoint("lb", "replaced", "u6", "3.4"), endpoint("lb", "upgraded", "u4", "3.4"))
	want := core.FleetDiff{
		Added:   []core.PodKey{key("new"), key("replaced")},
		Updated: []core.PodKey{key("upgraded")},
		Removed: []core.PodKey{key("gone"), key("replaced")},
	}
	if diff := cmp.Diff(want, newer.DiffFrom(older)); diff != "" {
		t.Errorf("- want, + got:\n%s", diff)
	}
	if diff := cmp.Diff(core.FleetDiff{}, newer.DiffFrom(newer)); diff != "" {
		t.Errorf("a fleet differs from itself:\n%s", diff)
	}
}

// What the events say was added, updated and removed is what the fleets say (R17).
func TestPublicationsTellTheDifferenceOfTheirFleets(t *testing.T) {
	for _, path := range transcripts(t) {
		s := tellStory(t, path)
		for _, told := range s.publications {
			if diff := cmp.Diff(told.fleet.DiffFrom(told.before), told.diff); diff != "" {
				t.Errorf("%s: - fleets, + event:\n%s", path, diff)
			}
		}
	}
}

func TestParsePodKey(t *testing.T) {
	key, err := core.ParsePodKey("lb/hap-0")
	if err != nil || key.String() != "lb/hap-0" {
		t.Errorf("got %v, %v", key, err)
	}
	for _, text := range []string{"", "lb", "lb/", "/hap-0", "lb/hap/0"} {
		if key, err := core.ParsePodKey(text); err == nil {
			t.Errorf("%q was read as %v", text, key)
		}
	}
}

// Whoever logs a fleet, in JSON too, sees what is in it, and no password.
func TestFleetIsReadable(t *testing.T) {
	credentials, err := core.NewCredentials("admin", "pass-word-1")
	if err != nil {
		t.Fatal(err)
	}
	fleet := core.NewFleet(credentials, endpoint("lb", "b", "u", "3.4"), endpoint("lb", "a", "u", "3.4"))
	text, err := json.Marshal(map[string]core.Fleet{"fleet": fleet, "none": {}})
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"fleet":"2 endpoints: lb/a, lb/b","none":"0 endpoints: "}`; string(text) != want {
		t.Errorf("got %s", text)
	}
	if got := fmt.Sprint(fleet); got != "2 endpoints: lb/a, lb/b" {
		t.Errorf("got %s", got)
	}
}
