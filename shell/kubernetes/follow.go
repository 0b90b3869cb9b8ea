package kubernetes

import (
	"context"
	"sync"

	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// follow runs an informer until ctx ends, and calls synced once, when its initial list is complete.
func follow(
	ctx context.Context, informer cache.SharedIndexInformer, lw *listWatch, synced func(),
) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var running sync.WaitGroup
	running.Go(func() {
		select {
		case <-ctx.Done():
		case <-informer.HasSyncedChecker().Done():
			lw.contact.markSynced()
			synced()
		}
	})
	informer.RunWithContext(klog.NewContext(ctx, quiet(lw.contact.logger)))
	cancel()
	running.Wait()
}
