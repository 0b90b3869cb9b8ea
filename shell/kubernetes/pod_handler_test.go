package kubernetes

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell"
)

// An event names a pod, in whatever shape the informer delivers it; what names none is logged.
func TestR9EveryEventNamesOnlyAKey(t *testing.T) {
	pod := &unstructured.Unstructured{Object: fixture(t, "running.json")}
	restarted := pod.DeepCopy()
	restarted.SetUID("u2")
	typed := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "lb", Name: "hap-0"}}
	tombstone := func(key string, object any) cache.DeletedFinalStateUnknown {
		return cache.DeletedFinalStateUnknown{Key: key, Obj: object}
	}
	byPointer := tombstone("lb/hap-0", pod)
	added := func(object any) func(cache.ResourceEventHandler) {
		return func(h cache.ResourceEventHandler) { h.OnAdd(object, false) }
	}
	updated := func(old, object any) func(cache.ResourceEventHandler) {
		return func(h cache.ResourceEventHandler) { h.OnUpdate(old, object) }
	}
	deleted := func(object any) func(cache.ResourceEventHandler) {
		return func(h cache.ResourceEventHandler) { h.OnDelete(object) }
	}
	const named, logged, silent = "[lb/hap-0]", "logged", ""
	for _, test := range []struct {
		name string
		tell func(cache.ResourceEventHandler)
		want string
	}{
		{"added", added(pod), named},
		{"added, typed", added(typed), named},
		{"resync", updated(pod, pod), silent},
		{"heartbeat", updated(pod, pod.DeepCopy()), silent},
		{"replaced", updated(pod, restarted), named},
		{"updated, typed", updated(typed, typed), named},
		{"updated, old one unknown", updated(nil, pod), named},
		{"deleted", deleted(pod), named},
		{"deleted, typed", deleted(typed), named},
		{"tombstone with a stale object", deleted(tombstone("lb/hap-0", pod)), named},
		{"tombstone without an object", deleted(tombstone("lb/hap-0", nil)), named},
		{"tombstone with another's object", deleted(tombstone("lb/hap-0", restarted)), named},
		{"tombstone with a typed nil", deleted(tombstone("lb/hap-0", (*corev1.Pod)(nil))), named},
		{"tombstone by pointer", deleted(&byPointer), named},
		{"tombstone, nil pointer", deleted((*cache.DeletedFinalStateUnknown)(nil)), logged},
		{"tombstone without a key", deleted(tombstone("", pod)), logged},
		{"tombstone with half a key", deleted(tombstone("hap-0", pod)), logged},
		{"nil", deleted(nil), logged},
		{"typed nil", deleted((*unstructured.Unstructured)(nil)), logged},
		{"typed nil update", updated(pod, (*unstructured.Unstructured)(nil)), logged},
		{"typed nil pod", added((*corev1.Pod)(nil)), logged},
		{"no fields", added(&unstructured.Unstructured{}), logged},
		{"a string", added("lb/hap-0"), logged},
		{"a number", deleted(7), logged},
	} {
		var log bytes.Buffer
		got := ""
		test.tell(PodHandler(func(event any) {
			update := event.(shell.ResourceIndexUpdated)
			if update.Resource != core.HAProxyPods {
				t.Errorf("%s: resource %q", test.name, update.Resource)
			}
			got += fmt.Sprint(update.Keys)
		}, slog.New(slog.NewTextHandler(&log, nil))))
		if lines := strings.Count(log.String(), "\n"); lines > 0 {
			got += strings.Repeat(logged, lines)
		}
		if got != test.want {
			t.Errorf("%s: got %q, want %q: %s", test.name, got, test.want, log.String())
		}
	}
}
