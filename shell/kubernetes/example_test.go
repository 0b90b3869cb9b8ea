package kubernetes_test

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"

	"github.com/haproxy-discovery/haproxy-discovery/shell"
	"github.com/haproxy-discovery/haproxy-discovery/shell/kubernetes"
)

// A program that has a pod informer already needs nothing but its handlers; its lister is the pod
// store:
//
//	component.SetPodStore(informer.Lister())
//	informer.Informer().AddEventHandler(kubernetes.PodHandler(component.HandleEvent, logger))
//
// Here is what an informer's events come to.
func ExamplePodHandler() {
	handler := kubernetes.PodHandler(func(event any) {
		fmt.Println("changed:", event.(shell.ResourceIndexUpdated).Keys)
	}, nil)
	pod := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"namespace": "lb", "name": "hap-0", "uid": "u0"},
	}}
	heartbeat := pod.DeepCopy()
	heartbeat.SetResourceVersion("2")
	heartbeat.SetAnnotations(map[string]string{"seen": "now"})

	handler.OnAdd(pod, false)
	handler.OnUpdate(pod, heartbeat) // no fact has changed
	handler.OnDelete(cache.DeletedFinalStateUnknown{Key: "lb/hap-1"})
	// Output:
	// changed: [lb/hap-0]
	// changed: [lb/hap-1]
}
