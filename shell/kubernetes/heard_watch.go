package kubernetes

import (
	"context"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// heardWatch passes the events of a watch on and tells the contact of them.
type heardWatch struct {
	watch.Interface
	from    *listWatch
	result  chan watch.Event
	stopped chan struct{}
	stop    sync.Once
}

func (l *listWatch) hear(ctx context.Context, events watch.Interface) *heardWatch {
	h := &heardWatch{
		Interface: events, from: l,
		result: make(chan watch.Event), stopped: make(chan struct{}),
	}
	l.contact.opened()
	go h.pass(ctx)
	return h
}

// ResultChan implements watch.Interface.
func (h *heardWatch) ResultChan() <-chan watch.Event { return h.result }

// Stop implements watch.Interface.
func (h *heardWatch) Stop() {
	h.stop.Do(func() { close(h.stopped) })
	h.Interface.Stop()
}

func (h *heardWatch) isStopped() bool {
	select {
	case <-h.stopped:
		return true
	default:
		return false
	}
}

func (h *heardWatch) pass(ctx context.Context) {
	defer close(h.result)
	defer h.from.contact.closed()
	for event := range h.Interface.ResultChan() {
		// A watch that we stop may end with an error, for the connection was closed under its reader.
		if h.isStopped() {
			return
		}
		if event.Type != watch.Error {
			if kind := kindOf(event.Object); kind != h.from.kind {
				h.from.contact.failed(h.from.failure("watch", foreignAnswer{kind, "a " + h.from.kind}))
				h.Interface.Stop()
				return
			}
			h.from.contact.heard()
		} else if err := apierrors.FromObject(event.Object); ctx.Err() == nil && !isExpired(err) {
			h.from.contact.failed(h.from.failure("watch", err))
		}
		select {
		case h.result <- event:
		case <-h.stopped:
			return
		}
	}
}

func kindOf(object runtime.Object) string {
	if object == nil {
		return ""
	}
	return object.GetObjectKind().GroupVersionKind().Kind
}
