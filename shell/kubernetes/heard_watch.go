package kubernetes

import (
	"context"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
	opened  time.Time
	events  int
	result  chan watch.Event
	stopped chan struct{}
	stop    sync.Once
}

// hear passes events on until the watch has ended, and calls ended then.
func (l *listWatch) hear(
	ctx context.Context, events watch.Interface, initial bool, ended func(),
) *heardWatch {
	h := &heardWatch{
		Interface: events, from: l, initial: initial, opened: time.Now(),
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
			h.from.contact.settled()
		case <-silence.C:
			h.tooSilent()
			return false
		case event, open := <-h.Interface.ResultChan():
			// A watch that we stop may end with an error, for the connection was closed under its reader.
			if h.isStopped() {
				return true
			}
			if !open {
				h.endedByServer()
				return true
			}
			event, goOn := h.take(ctx, event)
			if !goOn {
				return true
			}
			silence.Reset(h.mayBeSilent())
			select {
			case h.result <- event:
			case <-h.stopped:
				return true
			}
		}
	}
}

// take takes an event down. It gives what is to be passed on, if the watch is to go on.
func (h *heardWatch) take(ctx context.Context, event watch.Event) (watch.Event, bool) {
	contact := h.from.contact
	h.events++
	if event.Type == watch.Error {
		err := apierrors.FromObject(event.Object)
		if isExpired(err) {
			h.from.expired("watch")
		} else if ctx.Err() == nil {
			contact.failed(h.from.failure("watch", err))
		}
		return watch.Event{Type: watch.Error, Object: tellable(event.Object, err)}, true
	}
	if kind := kindOf(event.Object); kind != h.from.kind {
		contact.failed(h.from.failure("watch", foreignAnswer(kind, "a "+h.from.kind)))
		h.Interface.Stop()
		return event, false
	}
	h.from.expirations.Store(0)
	contact.heard()
	contact.settled()
	if event.Type == watch.Bookmark {
		h.initial = false
	}
	return event, true
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
	if h.events == 0 && time.Since(h.opened) < h.from.limits.settle {
		h.from.contact.failed(h.from.failure("watch", inOwnWords("each watch ends as soon as it is open")))
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
