package status

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

const (
	// maxStreams bounds the pages open at once.
	maxStreams = 64
	// streamPause is the least time between two messages: what changes meanwhile comes in one.
	streamPause = 250 * time.Millisecond
	// streamHeartbeat is the most: a page that hears nothing for longer knows that it is cut off.
	streamHeartbeat = 5 * time.Second
	// streamWriteLimit is how long a page may leave a message unread before it is dropped.
	streamWriteLimit = 10 * time.Second
	// maxUnsent is how many messages may wait for a page before it is dropped: those of the time
	// that it may leave one unread.
	maxUnsent = int(streamWriteLimit / streamPause)
)

// events streams messages until the request ends.
func (p *Page) events(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodHead {
		w.Header().Set("Content-Type", "text/event-stream")
		return
	}
	reader, found := p.streams.join(p)
	if !found {
		unavailable(w, fmt.Sprintf("%d pages are open already", maxStreams))
		return
	}
	defer p.streams.leave(reader)
	w.Header().Set("Content-Type", "text/event-stream")
	control := http.NewResponseController(w)
	for {
		data, open := reader.next(r.Context())
		if !open {
			return
		}
		err := control.SetWriteDeadline(time.Now().Add(streamWriteLimit))
		if err != nil && !errors.Is(err, http.ErrNotSupported) {
			return
		}
		if _, err := w.Write(data); err != nil {
			return
		}
		if err := control.Flush(); err != nil {
			return
		}
	}
}

// reader is one open page: what waits to be sent to it. The bytes are shared with other readers.
type reader struct {
	unsent chan []byte
}

// next is false when the request has ended, or the page was dropped for reading too slowly.
func (r *reader) next(ctx context.Context) (data []byte, open bool) {
	select {
	case data, open = <-r.unsent:
		return data, open
	case <-ctx.Done():
		return nil, false
	}
}
