package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// releaseLimit bounds how long a lease is given up for when the program ends (R31).
const releaseLimit = 500 * time.Millisecond

// Election says who is to lead by which Lease. The durations mean what they mean to Kubernetes' own
// controllers, and have the same defaults.
type Election struct {
	Lease types.NamespacedName
	// Identity is the name of this replica, unlike all others; DefaultIdentity is one.
	Identity string
	// LeaseDuration is how long the others wait for a leader that is not heard of; whole seconds.
	LeaseDuration time.Duration
	// RenewDeadline is how long a leader tries to renew before it takes itself for one no more.
	RenewDeadline time.Duration
	// RetryPeriod is the time between two tries.
	RetryPeriod time.Duration
}

// The defaults of Kubernetes' own controllers.
const (
	DefaultLeaseDuration = 15 * time.Second
	DefaultRenewDeadline = 10 * time.Second
	DefaultRetryPeriod   = 2 * time.Second
)

// maxLeaseDuration is what the field of a Lease can hold.
const maxLeaseDuration = math.MaxInt32 * time.Second

// DefaultIdentity is the host's name, which in a pod is the pod's, and something unique.
func DefaultIdentity() (string, error) {
	host, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("host name: %w", err)
	}
	return host + "_" + string(uuid.NewUUID()), nil
}

// Validate names the first duration that makes no sense.
func (e Election) Validate() error {
	jittered := time.Duration(leaderelection.JitterFactor * float64(e.RetryPeriod))
	switch {
	case e.RetryPeriod <= 0:
		return fmt.Errorf("retry period %v is not positive", e.RetryPeriod)
	case e.RenewDeadline <= jittered:
		return fmt.Errorf("renew deadline %v is not longer than %v times the retry period %v",
			e.RenewDeadline, leaderelection.JitterFactor, e.RetryPeriod)
	case e.LeaseDuration <= e.RenewDeadline:
		return fmt.Errorf("lease duration %v is not longer than the renew deadline %v",
			e.LeaseDuration, e.RenewDeadline)
	case e.LeaseDuration%time.Second != 0:
		return fmt.Errorf("lease duration %v is not a number of seconds", e.LeaseDuration)
	case e.LeaseDuration > maxLeaseDuration:
		return fmt.Errorf("lease duration %v is longer than a Lease can hold: %v",
			e.LeaseDuration, maxLeaseDuration)
	}
	return nil
}

// Leadership takes part in the election of a leader. Discovery runs on every replica; leading only
// makes the component tell its last publication again (R19).
type Leadership struct {
	election Election
	lock     *leaseLock
	logger   *slog.Logger
}

// LeadershipStatus is how things stand, at one moment.
type LeadershipStatus struct {
	Lease    string
	Identity string
	// Leading tells that this replica holds the lease.
	Leading bool
	// Holder is who holds the lease, as far as is known; empty for nobody, or for a lease that has run
	// out.
	Holder string
	// LastError says why the lease cannot be asked for at present; empty if it can.
	LastError string
}

// NewLeadership makes it; Run takes part. The error says which part of the election makes no
// sense, or what is wrong with the cluster's configuration.
func NewLeadership(
	cluster *Cluster, election Election, logger *slog.Logger,
) (*Leadership, error) {
	if err := election.Validate(); err != nil {
		return nil, err
	}
	if election.Identity == "" {
		return nil, errors.New("the identity is empty")
	}
	logger = orDiscard(logger)
	config := rest.CopyConfig(cluster.Config)
	config.Timeout = election.RenewDeadline / 2 // so that a renewal has two tries at least
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, configError(err)
	}
	client, err := coordination.NewForConfigAndClient(config, httpClient)
	if err != nil {
		return nil, configError(err)
	}
	lease := &resourcelock.LeaseLock{
		LeaseMeta: metav1.ObjectMeta{
			Namespace: election.Lease.Namespace, Name: election.Lease.Name,
		},
		Client:     client,
		LockConfig: resourcelock.ResourceLockConfig{Identity: election.Identity},
	}
	return &Leadership{
		election: election,
		lock:     newLeaseLock(lease, election, cluster.Server, logger),
		logger:   logger,
	}, nil
}

// Check asks the API server for the lease. That it does not exist yet is fine. The error is a
// *Failure.
func (l *Leadership) Check(ctx context.Context) error {
	_, _, err := l.lock.Interface.Get(ctx)
	if err != nil && !apierrors.IsNotFound(err) {
		return l.lock.failure("get", err)
	}
	return nil
}

// Status tells how things stand. Safe at any time.
func (l *Leadership) Status() LeadershipStatus { return l.lock.status() }

// Run takes part until ctx ends, and gives the lease up then. Each time that this replica becomes
// the leader, handle, usually Component.HandleEvent, is told core.BecameLeader. A lease that is lost
// is tried for again. That a term has ended is not told: for a program that also acts as the leader,
// and has to stop before the next one begins, e2e/embedding shows an election by client-go's means.
func (l *Leadership) Run(ctx context.Context, handle func(event any)) error {
	release, cancel := context.WithCancel(context.Background())
	defer cancel()
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(releaseLimit, cancel) })
	defer stop()
	// Told by the lock, since client-go tells from a goroutine that nobody waits for.
	l.lock.begin(release, func() { handle(core.BecameLeader{}) })
	ctx = klog.NewContext(ctx, quiet(l.logger))
	for ctx.Err() == nil {
		elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
			Lock:          l.lock,
			Name:          l.election.Lease.String(),
			LeaseDuration: l.election.LeaseDuration,
			RenewDeadline: l.election.RenewDeadline,
			RetryPeriod:   l.election.RetryPeriod,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(context.Context) {},
				OnStoppedLeading: func() { l.lock.stopped(ctx.Err() != nil) },
			},
			ReleaseOnCancel: true,
		})
		if err != nil {
			return fmt.Errorf("leader election: %w", err)
		}
		elector.Run(ctx)
	}
	return nil
}
