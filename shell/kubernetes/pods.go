package kubernetes

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell"
)

var podsResource = schema.GroupVersionResource{Version: "v1", Resource: "pods"}

// Pods follows the pods of a namespace that match a selector. It is the shell.PodStore to give to a
// component, can say whether it has synced, and holds of each pod only what discovery reads.
type Pods struct {
	cache.GenericLister
	informer  cache.SharedIndexInformer
	listWatch *listWatch
	auditor   *auditor
	logger    *slog.Logger
}

// NewPods makes a store that is filled once Run is called. The selector is applied by the API
// server: a pod whose labels leave it counts as deleted.
func NewPods(cluster *Cluster, selector string, logger *slog.Logger) *Pods {
	logger = orDiscard(logger)
	lw := &listWatch{
		resource: cluster.Client.Resource(podsResource).Namespace(cluster.Namespace),
		tweak:    func(options *metav1.ListOptions) { options.LabelSelector = selector },
		kind:     "Pod",
		asked:    "pods in namespace " + cluster.Namespace,
		server:   cluster.Server,
		contact:  newContact("pods", logger),
		limits:   defaultWatchLimits,
	}
	informer := newInformer(lw, cluster, trimPod)
	return &Pods{
		GenericLister: cache.NewGenericLister(informer.GetIndexer(), podsResource.GroupResource()),
		informer:      informer,
		listWatch:     lw,
		auditor: &auditor{
			pods:    cluster.metadata.Resource(podsResource).Namespace(cluster.Namespace),
			indexer: informer.GetIndexer(), synced: informer.HasSynced,
			lw: lw, logger: logger, interval: DefaultAuditInterval, followUp: followUpDelay,
		},
		logger: logger,
	}
}

// Check asks the API server for what Run will ask for. The error is a *Failure.
func (p *Pods) Check(ctx context.Context) error { return p.listWatch.check(ctx) }

// HasSynced tells whether the initial list is complete.
func (p *Pods) HasSynced() bool { return p.informer.HasSynced() }

// View tells how well the cluster is seen. Safe at any time.
func (p *Pods) View() View { return p.listWatch.contact.view() }

// Run follows the pods until ctx ends, once. It tells handle, usually Component.HandleEvent, which
// pods have changed and, once, that the initial list is complete. The view is audited meanwhile: see
// AuditEvery.
func (p *Pods) Run(ctx context.Context, handle func(event any)) error {
	if _, err := p.informer.AddEventHandler(PodHandler(handle, p.logger)); err != nil {
		return fmt.Errorf("following pods: %w", err)
	}
	var auditing sync.WaitGroup
	defer auditing.Wait()
	auditing.Go(func() { p.auditor.run(ctx) })
	follow(ctx, p.informer, p.listWatch, func() {
		p.logger.Info("initial pods are complete", "pods", len(p.informer.GetIndexer().ListKeys()))
		handle(shell.ResourceSyncComplete{Resource: core.HAProxyPods})
	})
	return nil
}

func newInformer(
	lw *listWatch, cluster *Cluster, transform cache.TransformFunc,
) cache.SharedIndexInformer {
	informer := cache.NewSharedIndexInformer(
		lw.listerWatcher(cluster.Client), &unstructured.Unstructured{}, 0, cache.Indexers{})
	// Both fail only for an informer that runs already.
	_ = informer.SetTransform(transform)
	_ = informer.SetWatchErrorHandlerWithContext(lw.gaveUp)
	return informer
}
