package main

import (
	"fmt"
	"io"
	"sync"
	"time"
)

const (
	// stderrLimit bounds, in bytes, the lines that wait for a slow reader of standard error.
	stderrLimit = 1 << 20
	// flushLimit bounds how long the end waits for that reader.
	flushLimit = 200 * time.Millisecond
)

// lineWriter takes lines and never blocks (R30): a goroutine of its own writes them, in order. Lines
// that find the queue full are dropped, and counted in a line in their place.
type lineWriter struct {
	to    io.Writer
	limit int
	wake  chan struct{} // holds one wish to look at the queue
	done  chan struct{}

	mu      sync.Mutex
	queue   [][]byte
	waiting int // bytes in queue
	dropped int
	closed  bool
}

func newLineWriter(to io.Writer, limit int) *lineWriter {
	w := &lineWriter{
		to: to, limit: limit, wake: make(chan struct{}, 1), done: make(chan struct{}),
	}
	go w.pass()
	return w
}

// Write implements io.Writer, for one line or several; it never fails.
func (w *lineWriter) Write(lines []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || w.waiting+len(lines) > w.limit {
		w.dropped++
		return len(lines), nil
	}
	w.tellDropped()
	w.put(append([]byte(nil), lines...))
	return len(lines), nil
}

// Close writes what waits, as far as somebody reads it within the limit; nothing is taken after it.
func (w *lineWriter) Close() {
	w.mu.Lock()
	w.closed = true
	w.look()
	w.mu.Unlock()
	select {
	case <-w.done:
	case <-time.After(flushLimit):
	}
}

// pass writes until it is closed and all is out.
func (w *lineWriter) pass() {
	defer close(w.done)
	for range w.wake {
		for {
			line, closed := w.take()
			if line == nil && closed {
				return
			}
			if line == nil {
				break
			}
			_, _ = w.to.Write(line) // nobody is left to be told of a failure
		}
	}
}

// take gives the next line, nil if there is none.
func (w *lineWriter) take() (line []byte, closed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.queue) == 0 {
		w.tellDropped()
	}
	if len(w.queue) == 0 {
		return nil, w.closed
	}
	line, w.queue = w.queue[0], w.queue[1:]
	w.waiting -= len(line)
	return line, w.closed
}

func (w *lineWriter) tellDropped() {
	if w.dropped > 0 {
		w.put(fmt.Appendf(nil, "haproxy-discovery: %d lines were dropped here: "+
			"standard error was not read\n", w.dropped))
		w.dropped = 0
	}
}

func (w *lineWriter) put(line []byte) {
	w.queue = append(w.queue, line)
	w.waiting += len(line)
	w.look()
}

func (w *lineWriter) look() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// withErrQueue runs a command whose standard error, unread, holds up nothing.
func withErrQueue(std streams, run func(streams) error) error {
	queue := newLineWriter(std.err, stderrLimit)
	defer queue.Close()
	std.err = queue
	return run(std)
}
