package world

import (
	"strings"
	"testing"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/fuzz/story"
)

// played is a world at the end of a quiet run: two pods are up, and the consumer holds both.
func played(t *testing.T) *World {
	var w World
	if failure := w.Run(Plan{}); failure != nil || len(w.consumer.held) < 2 {
		t.Fatalf("a quiet run holds %d endpoints: %v", len(w.consumer.held), failure)
	}
	return &w
}

// TestTheConsumerComplains about whatever a deployer could not live with.
func TestTheConsumerComplains(t *testing.T) {
	discovered := func(credentials core.Credentials, endpoints ...core.Endpoint) core.Effect {
		return core.Publish{Event: core.HAProxyPodsDiscovered{
			Fleet: core.NewFleet(credentials, endpoints...),
		}}
	}
	terminated := func(identity core.Identity) core.Effect {
		return core.Publish{Event: core.HAProxyPodTerminated{Identity: identity}}
	}
	a := story.Credentials[0]
	for _, test := range []struct {
		name    string
		effects func(held []core.Endpoint) []core.Effect
		says    string
	}{
		{"nothing new", func(held []core.Endpoint) []core.Effect {
			return []core.Effect{discovered(a, held...)}
		}, ""},
		{"a stranger is terminated", func([]core.Endpoint) []core.Effect {
			return []core.Effect{terminated(core.Identity{UID: "stranger"})}
		}, "is terminated, but not held"},
		{"one is missing silently", func(held []core.Endpoint) []core.Effect {
			return []core.Effect{discovered(a, held[1:]...)}
		}, "1 endpoints are missing without Terminated"},
		{"one is back without a probe", func(held []core.Endpoint) []core.Effect {
			return []core.Effect{terminated(held[0].Identity), discovered(a, held...)}
		}, "is back without a probe"},
		{"one is replaced", func(held []core.Endpoint) []core.Effect {
			other := held[0]
			other.UID = "successor"
			return []core.Effect{
				terminated(held[0].Identity), discovered(a, append(held[1:], other)...),
			}
		}, "which is gone or replaced"},
		{"old credentials", func(held []core.Endpoint) []core.Effect {
			return []core.Effect{discovered(story.Credentials[1], held...)}
		}, "has old credentials"},
	} {
		w := played(t)
		w.consume(test.effects(append([]core.Endpoint(nil), w.consumer.held...)))
		said := strings.Join(w.failure, "\n")
		if test.says == "" && said != "" || !strings.Contains(said, test.says) {
			t.Errorf("%s: the consumer says %q", test.name, said)
		}
	}
}

// TestTheEndIsCompared with the pods that there are, whatever the consumer thinks.
func TestTheEndIsCompared(t *testing.T) {
	for _, test := range []struct {
		name   string
		doctor func(w *World)
		says   string
	}{
		{"nothing is wrong", func(*World) {}, ""},
		{"one is missing", func(w *World) { w.consumer.held = w.consumer.held[:1] }, "is missing"},
		{"one is too many", func(w *World) { w.cluster.slots[0].pod = nil }, "instead of"},
		{"a pod has moved", func(w *World) { w.changed(0, moved) }, "is held instead of"},
		{"a version is unknown", func(w *World) { w.consumer.held[0].Version = core.Version{} },
			"is unknown"},
		{"nothing was told", func(w *World) { w.consumer.told = false }, "nothing was published"},
	} {
		w := played(t)
		test.doctor(w)
		w.checkTruth()
		said := strings.Join(w.failure, "\n")
		if test.says == "" && said != "" || !strings.Contains(said, test.says) {
			t.Errorf("%s: it says %q", test.name, said)
		}
	}
}
