package testbed

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// Informer is a bare pod informer, on a connection of its own: how fast any client can know. It
// takes down when it was told of each change, by the pod's UID, that ends an authority.
type Informer struct {
	mu    sync.Mutex
	ended map[string][]time.Time
}

// StartInformer returns once it has synced.
func StartInformer(
	ctx context.Context, client kubernetes.Interface, namespace string,
) (*Informer, error) {
	i := &Informer{ended: map[string][]time.Time{}}
	informer := informers.NewSharedInformerFactoryWithOptions(
		client, 0, informers.WithNamespace(namespace)).Core().V1().Pods().Informer()
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(old, updated any) {
			was, is := old.(*corev1.Pod), updated.(*corev1.Pod)
			if was.DeletionTimestamp == nil && is.DeletionTimestamp != nil ||
				restarted(was.Status.ContainerStatuses, is.Status.ContainerStatuses) {
				i.note(is)
			}
		},
		DeleteFunc: func(object any) {
			if pod, isPod := object.(*corev1.Pod); isPod {
				i.note(pod)
			}
		},
	})
	if err != nil {
		return nil, err
	}
	go informer.RunWithContext(ctx)
	select {
	case <-informer.HasSyncedChecker().Done():
		return i, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func restarted(was, is []corev1.ContainerStatus) bool {
	if len(was) == 0 || len(was) != len(is) {
		return false
	}
	for n := range was {
		if was[n].ContainerID != is[n].ContainerID {
			return true
		}
	}
	return false
}

func (i *Informer) note(pod *corev1.Pod) {
	i.mu.Lock()
	defer i.mu.Unlock()
	uid := string(pod.UID)
	i.ended[uid] = append(i.ended[uid], time.Now())
}

// Ended is when it was told of the first such change to the pod after a moment, if it was.
func (i *Informer) Ended(uid string, after time.Time) (time.Time, bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, at := range i.ended[uid] {
		if at.After(after) {
			return at, true
		}
	}
	return time.Time{}, false
}
