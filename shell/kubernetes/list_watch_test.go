package kubernetes

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
)

func hear(contact *contact, source watch.Interface) *heardWatch {
	lw := &listWatch{contact: contact, limits: defaultWatchLimits}
	return lw.hear(context.Background(), source, false, renewing{}, func() {})
}

// A watch that is stopped while an event is on its way ends all the same, and counts as closed.
func TestStoppedWatchLetsGoOfItsEvent(t *testing.T) {
	log := &logged{}
	contact := newContact("pods", log.logger())
	source := watch.NewFakeWithOptions(watch.FakeOptions{ChannelSize: 1})
	heard := hear(contact, source)
	source.Add(&unstructured.Unstructured{})
	await(t, "the event to be taken", log, func() bool { return len(source.ResultChan()) == 0 })
	if !contact.view().Connected {
		t.Error("an open watch is no contact")
	}
	heard.Stop()
	heard.Stop()
	await(t, "the end", log, func() bool { return !contact.view().Connected })
	for range heard.ResultChan() {
		t.Error("an event after the stop")
	}
}

// closedUnderItsReader is a watch as client-go's often is when it is stopped: the reader finds the
// connection closed and says so.
type closedUnderItsReader struct{ *watch.FakeWatcher }

func (w closedUnderItsReader) Stop() {
	w.Error(&metav1.Status{Code: http.StatusInternalServerError, Message: "read on closed body"})
	w.FakeWatcher.Stop()
}

// Our own end of a watch, such as the one after a 410, is no loss of contact.
func TestStoppedWatchHasNotFailed(t *testing.T) {
	log := &logged{}
	contact := newContact("pods", log.logger())
	source := closedUnderItsReader{watch.NewFakeWithOptions(watch.FakeOptions{ChannelSize: 1})}
	heard := hear(contact, source)
	heard.Stop()
	await(t, "the end", log, func() bool { return !contact.view().Connected })
	if view := contact.view(); view.LastError != "" {
		t.Errorf("view %+v", view)
	}
}

// A connection that is found to be dead was so for a while: the last contact is what was heard last.
func TestLostConnectionIsNoContact(t *testing.T) {
	log := &logged{}
	contact := newContact("pods", log.logger())
	var now atomic.Pointer[time.Time]
	begun := time.Now()
	now.Store(&begun)
	contact.now = func() time.Time { return *now.Load() }
	source := watch.NewFake()
	heard := hear(contact, source)
	later := begun.Add(45 * time.Second)
	now.Store(&later)
	lost := apierrors.NewClientErrorReporter(http.StatusInternalServerError, "GET", "ClientWatchDecoding").
		AsObject(errors.New("unable to decode an event from the watch stream: http2: client connection lost"))
	go source.Error(lost)
	<-heard.ResultChan()
	heard.Stop()
	await(t, "the end", log, func() bool { return !contact.view().Connected })
	if view := contact.view(); !view.LastContact.Equal(begun) || !strings.Contains(view.LastError, "was lost") {
		t.Errorf("view %+v, begun %v", view, begun)
	}
}
