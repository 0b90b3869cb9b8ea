package kubernetes

import (
	"fmt"
	"log/slog"
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell"
)

// PodHandler makes the event handlers of a pod informer, of this package's or of the embedding
// program's own. They name the pod that has changed and say no more (R9): an update that changes no
// fact names nothing, and of a deletion only the key counts, however it is delivered. What is no pod
// is logged. handle is Component.HandleEvent, or a bus's way to it; the logger may be nil.
//
// The informer's sync is told separately, once, as shell.ResourceSyncComplete.
func PodHandler(handle func(event any), logger *slog.Logger) cache.ResourceEventHandler {
	logger = orDiscard(logger)
	name := func(object any) {
		key, err := keyOf(object)
		if err != nil {
			logger.Warn("pod event ignored", "error", err)
			return
		}
		handle(shell.ResourceIndexUpdated{Resource: core.HAProxyPods, Keys: []core.PodKey{key}})
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc: name,
		UpdateFunc: func(old, updated any) {
			was, isFields := old.(*unstructured.Unstructured)
			is, areFields := updated.(*unstructured.Unstructured)
			if isFields && areFields && was != nil && is != nil && sameFacts(was, is) {
				return
			}
			name(updated)
		},
		DeleteFunc: name,
	}
}

// keyOf names the pod that an event is about. A tombstone, by value or pointer, has the key itself;
// the object in it may be stale or missing.
func keyOf(object any) (core.PodKey, error) {
	value := reflect.ValueOf(object)
	if !value.IsValid() || value.Kind() == reflect.Pointer && value.IsNil() {
		return core.PodKey{}, fmt.Errorf("%T holds no object", object)
	}
	switch tombstone := object.(type) {
	case cache.DeletedFinalStateUnknown:
		return core.ParsePodKey(tombstone.Key)
	case *cache.DeletedFinalStateUnknown:
		return core.ParsePodKey(tombstone.Key)
	}
	metadata, err := meta.Accessor(object)
	if err != nil {
		return core.PodKey{}, fmt.Errorf("%T is no object of the API", object)
	}
	return core.ParsePodKey(metadata.GetNamespace() + "/" + metadata.GetName())
}
