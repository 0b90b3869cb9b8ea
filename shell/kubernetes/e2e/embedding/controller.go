package embedding

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/klog/v2"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell"
	"github.com/haproxy-discovery/haproxy-discovery/shell/kubernetes"
)

// Controller writes the newest Configuration that comes over its bus to all agents of the fleet, as
// long as it leads. The rest of the program sends it core.ConfigValidated and
// core.CredentialsUpdated over the bus, too.
type Controller struct {
	logger    *slog.Logger
	bus       *Bus
	pods      informers.GenericInformer
	discovery *shell.Component
	deployer  *deployer
	election  *election
}

// New makes a controller for the pods of the cluster's namespace that match the selector. Nothing
// that is sent over the bus from now on is missed.
func New(
	bus *Bus, cluster *kubernetes.Cluster, podSelector string, terms kubernetes.Election,
	logger *slog.Logger,
) (*Controller, error) {
	c := &Controller{logger: logger, bus: bus, deployer: newDeployer(terms.Identity, logger)}
	bus.Subscribe(c.deployer.handle)

	c.pods = dynamicinformer.NewFilteredDynamicSharedInformerFactory(
		cluster.Client, 0, cluster.Namespace,
		func(options *metav1.ListOptions) { options.LabelSelector = podSelector },
	).ForResource(schema.GroupVersionResource{Version: "v1", Resource: "pods"})
	handler := kubernetes.PodHandler(bus.Send, logger)
	if _, err := c.pods.Informer().AddEventHandler(handler); err != nil {
		return nil, fmt.Errorf("following pods: %w", err)
	}

	c.discovery = shell.New(port{bus}, logger)
	c.discovery.SetPodStore(c.pods.Lister())

	var err error
	c.election, err = newElection(cluster, terms, func(term context.Context) {
		c.deployer.lead(term) // else it may miss the replay
		bus.Send(core.BecameLeader{})
	}, c.deployer.rest)
	return c, err
}

// Run returns once ctx has ended and everything else has, too: no request is under way and the
// lease is free. The error is discovery's.
func (c *Controller) Run(ctx context.Context) error {
	ctx, stop := context.WithCancel(
		klog.NewContext(ctx, logr.FromSlogHandler(c.logger.Handler())))
	defer stop()
	var parts errgroup.Group
	parts.Go(func() error {
		defer stop() // no controller without discovery
		return c.discovery.Start(ctx)
	})
	parts.Go(func() error {
		c.pods.Informer().RunWithContext(ctx)
		return nil
	})
	parts.Go(func() error {
		select {
		case <-c.pods.Informer().HasSyncedChecker().Done():
			c.bus.Send(shell.ResourceSyncComplete{Resource: core.HAProxyPods})
		case <-ctx.Done():
		}
		return nil
	})
	parts.Go(func() error {
		c.election.run(ctx)
		return nil
	})
	return parts.Wait()
}
