package embedding

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/haproxy-discovery/haproxy-discovery/shell/kubernetes"
)

// election takes part in the election of a leader, again and again.
type election struct {
	config leaderelection.LeaderElectionConfig
}

// newElection calls lead with a context that lasts as long as a term does, and resign when a term
// ends: before the lease is given up, if it is.
func newElection(
	cluster *kubernetes.Cluster, terms kubernetes.Election,
	lead func(term context.Context), resign func(),
) (*election, error) {
	config := rest.CopyConfig(cluster.Config)
	config.Timeout = terms.RenewDeadline / 2 // so that a renewal has two tries at least
	client, err := coordination.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("leader election: %w", err)
	}
	lock := &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: terms.Lease.Namespace, Name: terms.Lease.Name},
		Client:     client,
		LockConfig: resourcelock.ResourceLockConfig{Identity: terms.Identity},
	}
	e := &election{leaderelection.LeaderElectionConfig{
		Lock:            lease{lock, resign},
		Name:            terms.Lease.String(),
		LeaseDuration:   terms.LeaseDuration,
		RenewDeadline:   terms.RenewDeadline,
		RetryPeriod:     terms.RetryPeriod,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: lead, OnStoppedLeading: resign,
		},
	}}
	if _, err := leaderelection.NewLeaderElector(e.config); err != nil {
		return nil, fmt.Errorf("leader election: %w", err)
	}
	return e, nil
}

// run takes part until ctx ends. A lease that was lost is tried for again.
func (e *election) run(ctx context.Context) {
	for ctx.Err() == nil {
		leaderelection.RunOrDie(ctx, e.config)
	}
}

// lease is given up only after resign: client-go itself gives it up first and calls
// OnStoppedLeading then, when the next leader may already be writing.
type lease struct {
	resourcelock.Interface
	resign func()
}

// Update names no holder in order to give the lease up.
func (l lease) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if record.HolderIdentity == "" {
		l.resign()
	}
	return l.Interface.Update(ctx, record)
}
