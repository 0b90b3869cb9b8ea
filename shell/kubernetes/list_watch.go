package kubernetes

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
)

// listWatch lists and watches some objects of one resource and keeps book of the contact with the
// API server on the way. An informer's own error handler would not do: client-go retries a refused
// connection without telling it.
type listWatch struct {
	resource dynamic.ResourceInterface
	tweak    func(*metav1.ListOptions)
	// kind is that of the objects; asked says in words what is asked of which server.
	kind, asked, server string
	contact             *contact
	limits              watchLimits
	// listNext asks for a plain list where one would be streamed next, since that went wrong.
	listNext atomic.Bool
	// renewal is a demand for a new list; closed and replaced with each one. See renew.
	renewal renewal
	// setbacks counts the watches that did not last until they had settled, one after the other.
	setbacks atomic.Int32
}

// watchLimits say for how long a server may keep its clients waiting. client-go has no such limits: a
// connection that is dead without either side knowing, or a proxy that hangs, would hold it for ever.
type watchLimits struct {
	// answer is for a list, and for a watch to be opened. A kube-apiserver itself does not take longer.
	answer time.Duration
	// settle is how long an open watch has to last until it counts as contact again after a loss.
	settle time.Duration
	// silence is for the next event. A kube-apiserver sends a bookmark every minute.
	silence time.Duration
	// initialSilence is for the next object as long as the streamed list is not complete.
	initialSilence time.Duration
	// pause is between watches that do not last.
	pause time.Duration
}

var defaultWatchLimits = watchLimits{
	answer: time.Minute, settle: time.Second, silence: 90 * time.Second, initialSilence: silenceLimit,
	pause: 5 * time.Second,
}

// listerWatcher is what an informer takes. Where the server can, it streams the initial list: a
// thousand pods are then never in memory untrimmed.
func (l *listWatch) listerWatcher(client dynamic.Interface) cache.ListerWatcher {
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc:  l.list,
		WatchFuncWithContext: l.watch,
	}, client)
}

func (l *listWatch) list(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	l.tweak(&options)
	renewing := l.renewal.begin(&options)
	l.pause(ctx)
	limited, cancel := context.WithTimeout(ctx, l.limits.answer)
	defer cancel()
	list, err := l.readList(limited, options)
	if err != nil {
		return nil, l.failed(ctx, "list", options, err)
	}
	l.contact.heard()
	if list.GetContinue() == "" {
		renewing.done()
	}
	return list, nil
}

// readList takes nothing else for a list: client-go would decode any object as an empty one, and a
// proxy that answers for the server would retire a whole fleet.
func (l *listWatch) readList(
	ctx context.Context, options metav1.ListOptions,
) (*unstructured.UnstructuredList, error) {
	list, err := l.resource.List(ctx, options)
	if err != nil {
		return nil, err
	}
	if kind := list.GetKind(); kind != l.kind+"List" && kind != "List" || list.GetResourceVersion() == "" {
		return nil, foreignAnswer(kind, "a list of "+l.kind+"s")
	}
	return list, nil
}

func (l *listWatch) watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	l.tweak(&options)
	initial := options.SendInitialEvents != nil
	if initial && l.listNext.Swap(false) {
		return nil, errNoStreaming
	}
	renewing := l.renewal.begin(&options)
	if !initial && renewing.due() {
		return nil, errRenewed
	}
	l.pause(ctx)
	watching, cancel := context.WithCancel(ctx)
	late := time.AfterFunc(l.limits.answer, cancel)
	events, err := l.resource.Watch(watching, options)
	if !late.Stop() {
		if err == nil {
			events.Stop()
		}
		err = context.DeadlineExceeded
	}
	if err != nil {
		cancel()
		return nil, l.failed(ctx, "watch", options, err)
	}
	return l.hear(watching, events, initial, renewing, cancel), nil
}

// errNoStreaming makes an informer ask for a plain list.
var errNoStreaming = errors.New("the list is not streamed this time")

// check asks for what an informer asks for, and gives the failure: not permitted, unreachable.
func (l *listWatch) check(ctx context.Context) error {
	options := metav1.ListOptions{Limit: 1}
	l.tweak(&options)
	list, err := l.readList(ctx, options)
	if err != nil {
		return l.failure("list", err)
	}
	options = metav1.ListOptions{ResourceVersion: list.GetResourceVersion()}
	l.tweak(&options)
	events, err := l.resource.Watch(ctx, options)
	if err != nil {
		return l.failure("watch", err)
	}
	events.Stop()
	return nil
}

// failed takes a failure down, unless it comes from our own end or is part of the protocol. client-go
// gets the Failure, which does not unwrap: where a reflector recognises a refused connection or a
// server that is busy, it waits and tries again within one call, and its context cannot end that.
func (l *listWatch) failed(
	ctx context.Context, verb string, options metav1.ListOptions, err error,
) error {
	// An old server does not stream the initial list; the informer lists then.
	streamingUnsupported := options.SendInitialEvents != nil && apierrors.IsInvalid(err)
	if ctx.Err() != nil || streamingUnsupported {
		return err
	}
	if isExpired(err) {
		l.expired(verb)
		return err // an informer lists anew
	}
	if apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge) {
		// The server is behind what we know: another replica of it, or a backup. It may take days to
		// reach it; the present state will do.
		l.renewal.ask()
	}
	failed := l.failure(verb, err)
	l.contact.failed(failed)
	return failed
}

func (l *listWatch) failure(verb string, err error) *Failure {
	return newFailure(verb+" "+l.asked, l.server, err)
}

// maxSetbacks is how many watches in a row may end before they have settled until that is told, and
// asked for the next one with a pause.
const maxSetbacks = 3

// setback: a watch has ended, or expired, as soon as it was open. That is usual now and then.
func (l *listWatch) setback(verb, words string) {
	if l.setbacks.Add(1) >= maxSetbacks {
		l.contact.failed(l.failure(verb, inOwnWords(words)))
	}
}

// expired is part of the protocol: the informer lists anew, and at once.
func (l *listWatch) expired(verb string) {
	l.setback(verb, "what is listed has always expired already (410)")
}

// settled: a watch lasts.
func (l *listWatch) settled() {
	l.setbacks.Store(0)
	l.contact.settled()
}

// pause delays a request that has no prospects.
func (l *listWatch) pause(ctx context.Context) {
	if l.setbacks.Load() >= maxSetbacks {
		select {
		case <-time.After(l.limits.pause):
		case <-ctx.Done():
		}
	}
}

// isExpired: the resource version is too old to go on from; the informer lists anew.
func isExpired(err error) bool { return apierrors.IsResourceExpired(err) || apierrors.IsGone(err) }

// gaveUp is the informer's cache.WatchErrorHandlerWithContext. What it is told was taken down before,
// unless the server has answered something that makes no sense.
func (l *listWatch) gaveUp(ctx context.Context, _ *cache.Reflector, err error) {
	var known *Failure
	if ctx.Err() == nil && !isExpired(err) && !errors.As(err, &known) {
		l.contact.failed(l.failure("follow", err))
	}
}
