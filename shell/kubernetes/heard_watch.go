package kubernetes

import (
	"context"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// heardWatch passes the events of a watch on, tells the contact of them, and ends a watch that is
// silent for too long: the connection may be dead, or end at a proxy that does not say that the API
// server is gone.
type heardWatch struct {
	watch.Interface
	from *listWatch
	// initial tells that the list streamed first is not complete.
	initial bool
	// renewing tells whether this watch streams a new list that was asked for, and when to end for one.
	renewing renewing
	// lost tells that the connection has ended without a word from the server.
	lost bool
	// judged tells that the watch has lasted, has told of a change, or has counted as a setback.
	judged  bool
	result  chan watch.Event
	stopped chan struct{}
	stop    sync.Once
}

// hear passes events on until the watch has ended, and calls ended then.
func (l *listWatch) hear(
	ctx context.Context, events watch.Interface, initial bool, renewing renewing, ended func(),
) *heardWatch {
	h := &heardWatch{
		Interface: events, from: l, initial: initial, renewing: renewing,
		result: make(chan watch.Event), stopped: make(chan struct{}),
	}
	l.contact.opened()
	go func() {
		defer ended()
		defer close(h.result)
		l.contact.closed(h.pass(ctx))
	}()
	return h
}

// ResultChan implements watch.Interface.
func (h *heardWatch) ResultChan() <-chan watch.Event { return h.result }

// Stop implements watch.Interface.
func (h *heardWatch) Stop() {
	h.stop.Do(func() { close(h.stopped) })
	h.Interface.Stop()
}

// pass tells whether the server was known to be there at the end.
func (h *heardWatch) pass(ctx context.Context) (known bool) {
	limits := h.from.limits
	settled := time.NewTimer(limits.settle)
	defer settled.Stop()
	silence := time.NewTimer(h.mayBeSilent())
	defer silence.Stop()
	for {
		select {
		case <-settled.C:
			h.judged = true
			h.from.settled()
		case <-silence.C:
			h.tooSilent()
			return false
		case <-h.renewing.again:
			h.renew()
			return true
		case event, open := <-h.Interface.ResultChan():
			// A watch that we stop may end with an error, for the connection was closed under its reader.
			if h.isStopped() {
				return !h.lost
			}
			if !open {
				h.endedByServer()
				return true
			}
			event, goOn := h.take(ctx, event)
			if !goOn {
				return true
			}
			// Of a list that is streamed, only more of it is progress.
			if !h.initial || event.Type == watch.Added {
				silence.Reset(h.mayBeSilent())
			}
			select {
			case h.result <- event:
			case <-h.stopped:
				return !h.lost
			}
		}
	}
}

// take takes an event down. It gives what is to be passed on, if the watch is to go on.
func (h *heardWatch) take(ctx context.Context, event watch.Event) (watch.Event, bool) {
	if event.Type == watch.Error {
		err := apierrors.FromObject(event.Object)
		if isExpired(err) {
			h.judged = true
			h.from.expired("watch")
		} else if ctx.Err() == nil {
			h.failed(err)
		}
		return watch.Event{Type: watch.Error, Object: tellable(event.Object, err)}, true
	}
	if kind := kindOf(event.Object); kind != h.from.kind {
		h.failed(foreignAnswer(kind, "a "+h.from.kind))
		h.Interface.Stop()
		return event, false
	}
	h.from.contact.heard()
	switch {
	case event.Type == watch.Bookmark:
		if h.initial && endsInitialList(event.Object) {
			h.initial = false
			h.renewing.done()
		}
	case !h.initial: // a change: the watch serves its purpose, however short it is
		h.judged = true
		h.from.setbacks.Store(0)
	}
	return event, true
}

func endsInitialList(bookmark runtime.Object) bool {
	object, err := meta.Accessor(bookmark)
	return err == nil && object.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true"
}

func (h *heardWatch) failed(err error) {
	failure := h.from.failure("watch", err)
	h.lost = cause(err) == lostConnection
	h.from.contact.failed(failure)
	if !h.judged {
		h.judged = true
		h.from.setbacks.Add(1)
	}
}

func (h *heardWatch) mayBeSilent() time.Duration {
	if h.initial {
		return h.from.limits.initialSilence
	}
	return h.from.limits.silence
}

func (h *heardWatch) tooSilent() {
	if h.initial {
		h.from.contact.failed(h.from.failure("watch", inOwnWords(
			"the server does not complete the list that it streams; asking for a plain one")))
		h.from.listNext.Store(true)
	}
	h.Interface.Stop()
}

// endedByServer is usual after some minutes.
func (h *heardWatch) endedByServer() {
	if h.initial {
		h.from.listNext.Store(true)
	}
	if !h.judged {
		h.from.setback("watch", "each watch ends as soon as it is open")
	}
}

func (h *heardWatch) isStopped() bool {
	select {
	case <-h.stopped:
		return true
	default:
		return false
	}
}

// tellable is the object of an error event without what client-go quotes in it, which may be a whole
// Secret; client-go logs it.
func tellable(object runtime.Object, err error) runtime.Object {
	if status, is := object.(*metav1.Status); is {
		if _, foreign := foreignText(*status); !foreign {
			return object
		}
	}
	return &metav1.Status{
		Status: metav1.StatusFailure, Reason: metav1.StatusReasonInternalError,
		Code: 500, Message: cause(err),
	}
}

func kindOf(object runtime.Object) string {
	if object == nil {
		return ""
	}
	return object.GetObjectKind().GroupVersionKind().Kind
}
