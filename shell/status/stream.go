package status

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

const (
	// maxStreams bounds the pages open at once; each costs some work for each change.
	maxStreams = 64
	// streamPause is the least time between two messages: what changes meanwhile comes in one.
	streamPause = 250 * time.Millisecond
	// streamHeartbeat is the most: a page that hears nothing for longer knows that it is cut off.
	streamHeartbeat = 5 * time.Second
	// streamWriteLimit is how long a page may leave a message unread before it is dropped.
	streamWriteLimit = 10 * time.Second
)

// message is what the page learns: a summary, and the pods that have changed. The first one of a
// stream holds all pods.
type message struct {
	Summary summary   `json:"summary"`
	Reset   bool      `json:"reset"`
	Pods    []row     `json:"pods"`
	Gone    []goneRow `json:"gone"`
}

type goneRow struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// events streams messages until the request ends.
func (h *handler) events(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodHead {
		w.Header().Set("Content-Type", "text/event-stream")
		return
	}
	select {
	case h.streams <- struct{}{}:
		defer func() { <-h.streams }()
	default:
		unavailable(w, fmt.Sprintf("%d pages are open already", maxStreams))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	stream := stream{writer: w, control: http.NewResponseController(w)}
	for {
		changed := h.Timeline.Changed()
		if err := stream.send(h.document(time.Now())); err != nil {
			return
		}
		if !pause(r, streamPause, nil) || !pause(r, streamHeartbeat-streamPause, changed) {
			return
		}
	}
}

// pause waits, at most until something happens; it is false when the request has ended.
func pause(r *http.Request, limit time.Duration, until <-chan struct{}) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-until:
	case <-timer.C:
	case <-r.Context().Done():
		return false
	}
	return true
}

// stream remembers what its page knows.
type stream struct {
	writer  http.ResponseWriter
	control *http.ResponseController
	known   map[core.PodKey]row
}

func (s *stream) send(d document) error {
	data, err := json.Marshal(s.news(d))
	if err != nil {
		return err
	}
	err = s.control.SetWriteDeadline(time.Now().Add(streamWriteLimit))
	if err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if _, err := fmt.Fprintf(s.writer, "data: %s\n\n", data); err != nil {
		return err
	}
	return s.control.Flush()
}

// news is how the document differs from what the page knows.
func (s *stream) news(d document) message {
	m := message{Summary: d.summary, Reset: s.known == nil, Pods: []row{}, Gone: []goneRow{}}
	known := make(map[core.PodKey]row, len(d.Pods))
	for _, pod := range d.Pods {
		was, found := s.known[pod.key()]
		if !found || was != pod {
			m.Pods = append(m.Pods, pod)
		}
		known[pod.key()] = pod
	}
	for key := range s.known {
		if _, found := known[key]; !found {
			m.Gone = append(m.Gone, goneRow{key.Namespace, key.Name})
		}
	}
	s.known = known
	return m
}
