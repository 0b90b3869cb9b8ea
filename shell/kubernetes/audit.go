package kubernetes

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/pager"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/core/audit"
	"github.com/haproxy-discovery/haproxy-discovery/shell/timeline"
)

const (
	// DefaultAuditInterval is the time between two audits of the pods.
	DefaultAuditInterval = 5 * time.Minute
	// followUpDelay is the time until an audit that was made because of another: long enough for what
	// was on its way to arrive.
	followUpDelay = 10 * time.Second
	// auditPage is how many pods are asked for at once.
	auditPage = 500
)

// auditor compares the identities of the pods with what an informer has cached of them, now and then,
// and has the informer list anew when its view is lost (R20a). It has a goroutine of its own, so that
// it holds nobody up. core/audit decides.
type auditor struct {
	pods     metadata.ResourceInterface
	indexer  cache.Indexer
	synced   func() bool
	lw       *listWatch
	logger   *slog.Logger
	followUp time.Duration

	mu       sync.Mutex
	interval time.Duration
	shown    timeline.Audit

	// These belong to run.
	auditor audit.Auditor
	last    time.Time
	failure *Failure
}

// AuditEvery sets the time between two audits, DefaultAuditInterval unless it is called; 0 for none.
// Call it before Run.
func (p *Pods) AuditEvery(interval time.Duration) { p.auditor.interval = interval }

// view is how the audits stand, for metrics and pages.
func (a *auditor) view() timeline.Audit {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.shown
}

// run audits until ctx ends.
func (a *auditor) run(ctx context.Context) {
	if a.interval <= 0 {
		return
	}
	a.show(func(shown *timeline.Audit) { shown.Began = time.Now() })
	for delay := a.soon(); ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(delay):
			delay = a.audit(ctx)
		}
	}
}

func (a *auditor) soon() time.Duration { return min(a.followUp, a.interval) }

// audit gives the time until the next one. Without an open watch there is nothing to compare: the
// informer is about to catch up, or to list anew, and the lost contact is told already.
func (a *auditor) audit(ctx context.Context) time.Duration {
	if !a.synced() || !a.lw.contact.view().Connected {
		return a.soon()
	}
	look, began := audit.Look{Before: a.cached()}, time.Now()
	var err error
	look.Listed, err = a.list(ctx)
	if ctx.Err() != nil {
		return 0
	}
	if a.failed(err); err != nil {
		return a.interval
	}
	look.After = a.cached()
	next, verdict := a.auditor.Judge(look)
	a.auditor = next
	a.take(verdict, began)
	if verdict.FollowUp {
		return a.soon()
	}
	return a.interval
}

// take acts on the verdict of the audit that began at the time.
func (a *auditor) take(verdict audit.Verdict, began time.Time) {
	before := a.last
	a.last = began
	a.show(func(shown *timeline.Audit) {
		switch {
		case verdict.Confirmed:
			shown.Verified = began
		case verdict.ConfirmedBefore:
			shown.Verified = before
		}
		if len(verdict.Lost) > 0 {
			shown.LostViews++
		}
	})
	if len(verdict.Lost) == 0 {
		return
	}
	a.logger.Warn("the view of the pods was lost: the API server says otherwise, and the watch does "+
		"not tell; listing anew. Was etcd put back from a backup, or does a proxy lose events?",
		"watch", a.lw.contact.resource, "pods", len(verdict.Lost), "first", verdict.Lost[0])
	a.lw.renewal.ask()
}

func (a *auditor) show(change func(*timeline.Audit)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change(&a.shown)
}

// failed logs that no audit can be made, once for each kind of failure, and the end of that.
func (a *auditor) failed(err error) {
	before := a.failure
	a.failure = nil
	if err != nil {
		a.failure = a.lw.failure("audit", err)
	}
	switch {
	case a.failure != nil && (before == nil || before.kind != a.failure.kind):
		a.logger.Warn("the view of the pods cannot be audited for now; it stands",
			"watch", a.lw.contact.resource, "error", a.failure)
	case a.failure == nil && before != nil:
		a.logger.Info("the view of the pods can be audited again", "watch", a.lw.contact.resource)
	}
}

// list asks for the identities of all pods: in pages, and of the present state, since no resource
// version is given.
func (a *auditor) list(ctx context.Context) (audit.View, error) {
	ctx, cancel := context.WithTimeout(ctx, a.lw.limits.answer)
	defer cancel()
	var options metav1.ListOptions
	a.lw.tweak(&options)
	pages := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		list, err := a.pods.List(ctx, options)
		if err == nil && list.ResourceVersion == "" {
			err = inOwnWords("the answer is no list of metadata")
		}
		return list, err
	})
	pages.PageSize = auditPage
	listed := audit.View{}
	err := pages.EachListItem(ctx, options, func(object runtime.Object) error {
		pod, isMetadata := object.(*metav1.PartialObjectMetadata)
		if !isMetadata {
			return inOwnWords(fmt.Sprintf("a list of metadata holds %T", object))
		}
		note(listed, pod)
		return nil
	})
	if err == nil && ctx.Err() != nil { // a pager may end early without a word
		err = ctx.Err()
	}
	return listed, err
}

// cached is what the informer holds at present.
func (a *auditor) cached() audit.View {
	objects := a.indexer.List()
	cached := make(audit.View, len(objects))
	for _, object := range objects {
		if pod, isObject := object.(metav1.Object); isObject {
			note(cached, pod)
		}
	}
	return cached
}

func note(view audit.View, pod metav1.Object) {
	key := core.PodKey{Namespace: pod.GetNamespace(), Name: pod.GetName()}
	view[key] = audit.Version{UID: string(pod.GetUID()), ResourceVersion: pod.GetResourceVersion()}
}
