package kubernetes

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// leaseLock is the lock of a leader election that tells what happens to it: who holds the lease until
// when, and, once per kind of failure, why it cannot be asked for. client-go would repeat that with
// every try.
type leaseLock struct {
	resourcelock.Interface
	election Election
	server   string
	logger   *slog.Logger
	now      func() time.Time

	mu       sync.Mutex
	limit    context.Context
	lead     func() // told of each term that begins
	holder   string
	renewed  metav1.Time         // as the lease says
	until    time.Time           // when the lease runs out unless it is renewed
	written  bool                // by us, who hold it
	failures map[string]*Failure // by verb: to read may be permitted where to write is not
}

func newLeaseLock(
	lock resourcelock.Interface, election Election, server string, logger *slog.Logger,
) *leaseLock {
	return &leaseLock{
		Interface: lock, election: election, server: server, logger: logger, now: time.Now,
		limit: context.Background(), lead: func() {}, failures: map[string]*Failure{},
	}
}

// begin has lead told when a term begins, and ends all requests with the context, those too that
// client-go would let go on for longer in order to give the lease up.
func (l *leaseLock) begin(limit context.Context, lead func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.limit, l.lead = limit, lead
}

func (l *leaseLock) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	release := context.AfterFunc(l.limit, cancel)
	return ctx, func() {
		release()
		cancel()
	}
}

// Get implements resourcelock.Interface.
func (l *leaseLock) Get(
	ctx context.Context,
) (*resourcelock.LeaderElectionRecord, []byte, error) {
	limited, cancel := l.limited(ctx)
	defer cancel()
	record, raw, err := l.Interface.Get(limited)
	if err == nil {
		l.held(*record, false)
	}
	if !apierrors.IsNotFound(err) { // it will be created
		l.done(ctx, "get", err)
	}
	return record, raw, err
}

// Create implements resourcelock.Interface.
func (l *leaseLock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.write(ctx, "create", l.Interface.Create, record)
}

// Update implements resourcelock.Interface.
func (l *leaseLock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.write(ctx, "update", l.Interface.Update, record)
}

func (l *leaseLock) write(
	ctx context.Context, verb string,
	write func(context.Context, resourcelock.LeaderElectionRecord) error,
	record resourcelock.LeaderElectionRecord,
) error {
	limited, cancel := l.limited(ctx)
	defer cancel()
	err := write(limited, record)
	if err == nil && l.held(record, true) {
		l.lead()
	}
	if !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) { // another one was faster
		l.done(ctx, verb, err)
	}
	return err
}

// held: what the lease says now. Only who has written it leads: what is read may be of a time before,
// under the same identity. Clocks differ, so that a lease counts from when it was seen to change. It
// tells whether a term of this replica has begun.
func (l *leaseLock) held(
	record resourcelock.LeaderElectionRecord, written bool,
) (leads bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before, led := l.holder, l.written
	l.holder = record.HolderIdentity
	l.written = l.holder == l.election.Identity && (written || l.written)
	if l.holder != before || !l.renewed.Equal(&record.RenewTime) {
		l.renewed = record.RenewTime
		l.until = l.now().Add(time.Duration(record.LeaseDurationSeconds) * time.Second)
	}
	switch {
	case l.written:
		if !led {
			l.logger.Info("this replica leads", "lease", l.election.Lease, "identity", l.holder)
		}
		return !led
	case l.holder == before, l.holder == l.election.Identity: // of a time before; taken at once
	case l.holder == "":
		l.logger.Info("the leader has given up the lease", "lease", l.election.Lease, "leader", before)
	default:
		l.logger.Info("another replica leads, at least until then; discovery goes on",
			"lease", l.election.Lease, "holder", l.holder, "until", l.until.Round(time.Second))
	}
	return false
}

// stopped: the election is over, be it for the time being; whoever leads now is not us.
func (l *leaseLock) stopped(ending bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.written {
		l.holder, l.written = "", false
		if !ending {
			l.logger.Warn("lease lost, it could not be renewed in time; discovery goes on, trying again",
				"lease", l.election.Lease)
		}
	}
}

// done takes down how a request has ended.
func (l *leaseLock) done(ctx context.Context, verb string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err == nil:
		l.succeeded(verb)
	case l.limit.Err() != nil:
		l.logger.Warn("lease not given up at the end, the others wait until it runs out",
			"lease", l.election.Lease, "error", l.failure(verb, err))
	case ctx.Err() == nil:
		failure := l.failure(verb, err)
		known := slices.ContainsFunc(slices.Collect(maps.Values(l.failures)),
			func(other *Failure) bool { return other.kind == failure.kind })
		l.failures[verb] = failure
		if !known {
			l.logger.Warn("lease not at hand; discovery goes on, trying again", "error", failure)
		}
	}
}

// succeeded forgets the failures that do not matter any more: who has written need not read, and who
// has read a lease need not create it. To read does not show that writing is permitted.
func (l *leaseLock) succeeded(verb string) {
	before := len(l.failures)
	if verb == "get" {
		delete(l.failures, "get")
		delete(l.failures, "create")
	} else {
		clear(l.failures)
	}
	if before > 0 && len(l.failures) == 0 {
		l.logger.Info("lease at hand again", "lease", l.election.Lease)
	}
}

func (l *leaseLock) failure(verb string, err error) *Failure {
	return newFailure(verb+" Lease "+l.election.Lease.String(), l.server, err)
}

func (l *leaseLock) status() LeadershipStatus {
	l.mu.Lock()
	defer l.mu.Unlock()
	status := LeadershipStatus{
		Lease: l.election.Lease.String(), Identity: l.election.Identity,
	}
	if l.now().Before(l.until) {
		status.Holder, status.Leading = l.holder, l.written
	}
	for _, verb := range []string{"get", "create", "update"} {
		if failure := l.failures[verb]; failure != nil {
			status.LastError = failure.Error()
			break
		}
	}
	return status
}
