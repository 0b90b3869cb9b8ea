package inputlog

import (
	"maps"
	"net/netip"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// anyText draws texts of all kinds: plain, with every byte, with what an escape could confuse.
func anyText() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom([]string{
			"", "a", "hap-0", "\x00", "\x0000", "\xff\xfe", "é\x80\n\"\\", "\u2028",
		}),
		rapid.String(),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
	)
}

// anyKey draws from a small space, so that keys collide.
func anyKey() *rapid.Generator[core.PodKey] {
	return rapid.Custom(func(t *rapid.T) core.PodKey {
		return core.PodKey{
			Namespace: rapid.SampledFrom([]string{"", "lb", "lb\x00", "\xff"}).Draw(t, "namespace"),
			Name:      rapid.SampledFrom([]string{"a", "b", "c", "d", "\xfe"}).Draw(t, "name"),
		}
	})
}

func anyIP() *rapid.Generator[netip.Addr] {
	addresses := []netip.Addr{{}}
	for _, text := range []string{
		"10.1.0.10", "fd00::a", "::ffff:10.1.0.10", "fe80::1%eth0", "::ffff:10.1.0.10%z",
	} {
		addresses = append(addresses, netip.MustParseAddr(text))
	}
	addresses = append(addresses, netip.MustParseAddr("fe80::1").WithZone("\xff%\x00"))
	return rapid.SampledFrom(addresses)
}

func anyPod() *rapid.Generator[*core.Pod] {
	return rapid.Custom(func(t *rapid.T) *core.Pod {
		return &core.Pod{
			Key:         anyKey().Draw(t, "key"),
			UID:         rapid.SampledFrom([]string{"", "u1", "u2"}).Draw(t, "uid"),
			Labels:      rapid.MapOfN(anyText(), anyText(), 0, 3).Draw(t, "labels"),
			IP:          anyIP().Draw(t, "ip"),
			Phase:       anyText().Draw(t, "phase"),
			Terminating: rapid.Bool().Draw(t, "terminating"),
			Agent:       core.AgentState(anyText().Draw(t, "agent")),
			RuntimeID:   core.RuntimeID(anyText().Draw(t, "runtime id")),
			NoAgent:     anyText().Draw(t, "no agent"),
			Malformed:   anyText().Draw(t, "malformed"),
			Unreadable:  core.Facts(rapid.ByteRange(0, byte(allFacts)).Draw(t, "unreadable")),
		}
	})
}

// anyList draws lists as stores give them, and lists that no store gives.
func anyList() *rapid.Generator[[]*core.Pod] {
	pods := rapid.SliceOfN(anyPod(), 0, 8)
	return rapid.OneOf(
		rapid.Map(pods, storeList),
		rapid.SliceOfN(rapid.OneOf(anyPod(), rapid.Just[*core.Pod](nil)), 0, 4),
	)
}

func storeList(pods []*core.Pod) []*core.Pod {
	slices.SortFunc(pods, func(a, b *core.Pod) int { return a.Key.Compare(b.Key) })
	return slices.CompactFunc(pods, func(a, b *core.Pod) bool { return a.Key == b.Key })
}

func anyOutcome() *rapid.Generator[core.Outcome] {
	return rapid.Custom(func(t *rapid.T) core.Outcome {
		switch rapid.IntRange(0, 2).Draw(t, "outcome") {
		case 0:
			return nil
		case 1:
			return core.Answer{
				Version:     anyText().Draw(t, "version"),
				FullVersion: anyText().Draw(t, "full version"),
			}
		default:
			return core.Failure{
				Cause:  core.Cause(anyText().Draw(t, "cause")),
				Detail: anyText().Draw(t, "detail"),
			}
		}
	})
}

// passwords is a small set, so that some are the same.
var passwords = []string{"hunter2-Passwort", "correct horse @/%:#é", "secret-1", "x"}

func anyCredentials() *rapid.Generator[core.Credentials] {
	return rapid.Custom(func(t *rapid.T) core.Credentials {
		credentials, _ := core.NewCredentials(
			rapid.SampledFrom([]string{"admin", "\xff", "é"}).Draw(t, "username"),
			rapid.SampledFrom(append(passwords, "")).Draw(t, "password"),
		)
		return credentials
	})
}

// anyInput draws from all kinds of inputs. Their names in the log serve as the labels here, so that
// the table of kinds is held by it (TestEveryInputTypeHasAKind).
var anyInputOf = map[string]*rapid.Generator[core.Input]{
	"none": rapid.Just[core.Input](nil),
	"config_validated": rapid.Custom(func(t *rapid.T) core.Input {
		return core.ConfigValidated{
			AgentPort: int(rapid.Int32().Draw(t, "port")), PodSelector: anyText().Draw(t, "selector"),
		}
	}),
	"credentials_updated": rapid.Custom(func(t *rapid.T) core.Input {
		return core.CredentialsUpdated{Credentials: anyCredentials().Draw(t, "credentials")}
	}),
	"pod_store_set": rapid.Custom(func(t *rapid.T) core.Input {
		return core.PodStoreSet{
			Pods:   anyList().Draw(t, "pods"),
			Synced: core.Sync(rapid.ByteRange(0, byte(core.SyncPending)).Draw(t, "synced")),
		}
	}),
	"resource_index_updated": rapid.Custom(func(t *rapid.T) core.Input {
		ref := rapid.Custom(func(t *rapid.T) core.PodRef {
			return core.PodRef{Key: anyKey().Draw(t, "key"), UID: anyText().Draw(t, "uid")}
		})
		pod := rapid.OneOf(anyPod(), rapid.Just[*core.Pod](nil))
		return core.ResourceIndexUpdated{
			Resource: anyText().Draw(t, "resource"),
			Upserted: rapid.SliceOfN(pod, 0, 3).Draw(t, "upserted"),
			Deleted:  rapid.SliceOfN(ref, 0, 3).Draw(t, "deleted"),
		}
	}),
	"resource_sync_complete": rapid.Custom(func(t *rapid.T) core.Input {
		return core.ResourceSyncComplete{
			Resource: anyText().Draw(t, "resource"), Pods: anyList().Draw(t, "pods"),
		}
	}),
	"became_leader": rapid.Just[core.Input](core.BecameLeader{}),
	"drift_prevention_triggered": rapid.Custom(func(t *rapid.T) core.Input {
		return core.DriftPreventionTriggered{Pods: anyList().Draw(t, "pods")}
	}),
	"probe_finished": rapid.Custom(func(t *rapid.T) core.Input {
		return core.ProbeFinished{
			Probe:   core.ProbeID(rapid.Uint64().Draw(t, "probe")),
			Outcome: anyOutcome().Draw(t, "outcome"),
		}
	}),
	"timer_fired": rapid.Custom(func(t *rapid.T) core.Input {
		return core.TimerFired{Timer: core.TimerID(rapid.Uint64().Draw(t, "timer"))}
	}),
}

func anyInput() *rapid.Generator[core.Input] {
	var all []*rapid.Generator[core.Input]
	for _, name := range slices.Sorted(maps.Keys(anyInputOf)) {
		all = append(all, anyInputOf[name])
	}
	return rapid.OneOf(all...)
}

func anyTime() *rapid.Generator[time.Time] {
	return rapid.Map(rapid.Int64Range(0, 1<<62), func(ns int64) time.Time {
		return time.Unix(0, ns).In(time.FixedZone("", 3600))
	})
}
