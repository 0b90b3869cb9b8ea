package status

import (
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell/timeline"
)

// message is what pages learn: a summary, and the pods that have changed. The first one of a stream
// holds all pods.
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

// streams makes each message once and hands the same bytes to all open pages (R14a). One goroutine
// does so while there are any.
type streams struct {
	mu      sync.Mutex
	readers map[*reader]bool // true for those that wait for their first message
	// joined wakes the goroutine for a new page; stop ends it. Both are nil while it does not run.
	joined chan struct{}
	stop   chan struct{}
}

// join is false where there are too many pages already.
func (s *streams) join(p *Page) (*reader, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.readers) >= maxStreams {
		return nil, false
	}
	if len(s.readers) == 0 {
		s.readers = map[*reader]bool{}
		s.joined, s.stop = make(chan struct{}, 1), make(chan struct{})
		go s.run(p, s.joined, s.stop)
	}
	joining := &reader{unsent: make(chan []byte, maxUnsent)}
	s.readers[joining] = true
	select {
	case s.joined <- struct{}{}:
	default:
	}
	return joining, true
}

func (s *streams) leave(r *reader) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, found := s.readers[r]; found {
		delete(s.readers, r)
		s.endIfAlone()
	}
}

// endIfAlone ends the goroutine with the last page.
func (s *streams) endIfAlone() {
	if len(s.readers) == 0 {
		close(s.stop)
	}
}

func (s *streams) run(p *Page, joined, stop <-chan struct{}) {
	follower := p.Follow()
	backlog := backlog{}
	for {
		moment, touched := follower.Next()
		if !s.send(p, &backlog, moment, touched, stop) {
			return
		}
		if !pause(streamPause, stop, nil, nil) ||
			!pause(streamHeartbeat-streamPause, stop, follower.Changed(), joined) {
			return
		}
	}
}

// pause waits, at most until something happens; it is false when the goroutine has to end.
func pause(limit time.Duration, stop, changed, joined <-chan struct{}) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-changed:
	case <-joined:
	case <-timer.C:
	case <-stop:
		return false
	}
	return true
}

// send gives the newest message to all who have had the ones before, and those that a new page needs
// to catch up. It is false when the goroutine has to end.
func (s *streams) send(
	p *Page, backlog *backlog, moment timeline.Moment, touched map[core.PodKey]struct{},
	stop <-chan struct{},
) bool {
	summary := p.summary(moment, time.Now())
	news := rendered(newsOf(summary, moment, touched))
	backlog.add(news)
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-stop: // others may have come since, with a goroutine of their own
		return false
	default:
	}
	for reader, isNew := range s.readers {
		messages := [][]byte{news}
		if isNew {
			messages = backlog.catchUp(func() []byte {
				return rendered(message{
					Summary: summary, Reset: true, Pods: rowsOf(moment), Gone: []goneRow{},
				})
			})
			s.readers[reader] = false
		}
		if !reader.take(messages) {
			close(reader.unsent)
			delete(s.readers, reader)
		}
	}
	if len(s.readers) == 0 {
		s.endIfAlone()
		return false
	}
	return true
}

// take is false for a page that has left too much unread.
func (r *reader) take(messages [][]byte) bool {
	for _, data := range messages {
		select {
		case r.unsent <- data:
		default:
			return false
		}
	}
	return true
}

// backlog is what a new page needs: a message with all pods, and those since. So pages that come
// soon after one another share their first message, however long each takes to read it.
type backlog struct {
	full  []byte
	since [][]byte
}

// maxSince is how many messages a message with all pods is good for.
const maxSince = 8

func (b *backlog) add(news []byte) {
	if b.full == nil {
		return
	}
	if len(b.since) == maxSince {
		b.full, b.since = nil, nil
		return
	}
	b.since = append(b.since, news)
}

func (b *backlog) catchUp(render func() []byte) [][]byte {
	if b.full == nil {
		b.full = render()
	}
	return slices.Concat([][]byte{b.full}, b.since)
}

func newsOf(summary summary, moment timeline.Moment, touched map[core.PodKey]struct{}) message {
	m := message{Summary: summary, Pods: []row{}, Gone: []goneRow{}}
	for key := range touched {
		standing, found := moment.State.Standing(key)
		if !found {
			m.Gone = append(m.Gone, goneRow{key.Namespace, key.Name})
			continue
		}
		pod, _ := moment.Pod(key)
		m.Pods = append(m.Pods, rowOf(standing, pod))
	}
	return m
}

// rendered is a message as it is sent.
func rendered(m message) []byte {
	data, err := json.Marshal(m)
	if err != nil {
		panic(err) // it holds texts and numbers only
	}
	return slices.Concat([]byte("data: "), data, []byte("\n\n"))
}
