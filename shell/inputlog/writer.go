package inputlog

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

const (
	// queuedRecords is how far the disk may lag behind.
	queuedRecords = 1024
	// closeTimeout bounds Close on a disk that hangs; a shutdown has a second in all (R31).
	closeTimeout = 400 * time.Millisecond
	// maxBuffered is how much is collected before a write while more is queued, in bytes.
	maxBuffered = 64 << 10
)

// ErrTooSlow is wrapped where recording stopped because the disk did not keep up.
var ErrTooSlow = errors.New("the disk is too slow")

// Writer appends to a log. Append and Effects never wait for the disk: one goroutine encodes,
// digests and writes what they queue (R28). Safe for concurrent use, but the order of calls is the
// order of records: one loop makes them.
type Writer struct {
	queue chan message
	// quit is closed once nothing more is queued, done once the goroutine has ended.
	quit, done chan struct{}
	recorder   *recorder
	onStop     func(error)
	// patience is closeTimeout, other than in tests on a busy machine.
	patience time.Duration

	mutex sync.Mutex
	ended bool
	err   error
}

func startWriter(recorder *recorder, onStop func(error)) *Writer {
	w := &Writer{
		// A record is queued in two parts, its input and its effects.
		queue:    make(chan message, 2*queuedRecords),
		quit:     make(chan struct{}),
		done:     make(chan struct{}),
		recorder: recorder,
		onStop:   onStop,
		patience: closeTimeout,
	}
	go w.run()
	return w
}

// Append records an input that was taken up at a wall time. It comes before the input is reduced,
// so that the log holds an input that breaks the reducer (R32). Without effect after Close, and
// after recording has stopped.
func (w *Writer) Append(at time.Time, input core.Input) {
	w.enqueue(message{isInput: true, at: at, input: input})
}

// Effects records what reducing the last input led to.
func (w *Writer) Effects(effects []core.Effect) {
	w.enqueue(message{effects: effects})
}

// Err tells why recording has stopped; nil while it has not.
func (w *Writer) Err() error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.err
}

// Bytes counts what this run has written so far. What is still queued does not count.
func (w *Writer) Bytes() int64 { return w.recorder.written.Load() }

// Close writes what is queued and the closing record. It returns within half a second: where the
// disk hangs, it gives up with an error that wraps ErrTooSlow. Where recording had stopped before,
// it returns the reason. Closing twice is fine.
func (w *Writer) Close() error {
	w.end(nil)
	timeout := time.NewTimer(w.patience)
	defer timeout.Stop()
	select {
	case <-w.done:
	case <-timeout.C:
		w.end(fmt.Errorf("%w: writing the end of the log took over %v", ErrTooSlow, w.patience))
		// This frees the goroutine if the file is a pipe; nothing frees it from a hung disk, so
		// closing must not be waited for either.
		go w.recorder.file.Close()
	}
	return w.Err()
}

func (w *Writer) enqueue(m message) {
	if reason := w.tryEnqueue(m); reason != nil {
		w.notify(reason)
	}
}

// tryEnqueue gives the reason if this message ends the recording. It holds the mutex throughout:
// nothing may be queued behind a message that was dropped.
func (w *Writer) tryEnqueue(m message) error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.ended {
		return nil
	}
	select {
	case w.queue <- m:
		return nil
	default:
		reason := fmt.Errorf("%w: %d records wait to be written", ErrTooSlow, queuedRecords)
		w.endLocked(reason)
		return reason
	}
}

// end lets nothing more into the queue; nil is the reason of an orderly end. The first error is
// kept, and told if it was what ended the recording.
func (w *Writer) end(reason error) {
	w.mutex.Lock()
	isFirst := w.endLocked(reason)
	w.mutex.Unlock()
	if isFirst && reason != nil {
		w.notify(reason)
	}
}

func (w *Writer) endLocked(reason error) (isFirst bool) {
	isFirst = !w.ended
	if isFirst {
		w.ended = true
		close(w.quit)
	}
	if w.err == nil {
		w.err = reason
	}
	return isFirst
}

func (w *Writer) notify(reason error) {
	if w.onStop != nil {
		w.onStop(reason)
	}
}

// run is the goroutine that owns the recorder.
func (w *Writer) run() {
	defer close(w.done)
	defer w.recorder.file.Close()
	if err := w.record(); err != nil {
		w.end(fmt.Errorf("writing the input log: %w", err))
	}
	if reason := w.Err(); reason != nil {
		w.recorder.writeStopped(reason)
	} else if err := w.recorder.writeClosing(); err != nil {
		w.end(fmt.Errorf("writing the input log: %w", err))
	}
}

// record writes what is queued, until nothing more can come or a write fails. It collects while
// more is waiting, and writes when it has caught up.
func (w *Writer) record() error {
	for {
		select {
		case m := <-w.queue:
			w.recorder.take(m)
		case <-w.quit:
			if len(w.queue) == 0 {
				return w.recorder.flush()
			}
		}
		if len(w.queue) > 0 && len(w.recorder.buffer) < maxBuffered {
			continue
		}
		if err := w.recorder.flush(); err != nil {
			return err
		}
	}
}
