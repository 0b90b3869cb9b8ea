package inputlog

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

const (
	// queuedRecords is how far the disk may lag behind.
	queuedRecords = 1024
	// closeTimeout bounds Close on a disk that hangs; a shutdown has a second in all (R31).
	closeTimeout = 400 * time.Millisecond
	// checkInterval is how often the file is looked after.
	checkInterval = time.Second
	// maxBuffered is how much is collected before a write while more is queued, in bytes.
	maxBuffered = 64 << 10
)

// ErrTooSlow is wrapped where recording stopped because the disk did not keep up.
var ErrTooSlow = errors.New("the disk is too slow")

// Writer appends to a log. Append and Effects never wait for the disk: one goroutine encodes,
// digests and writes what they queue (R28). Safe for concurrent use, but the order of calls is the
// order of records: one loop makes them.
//
// The goroutine looks after the file, too (R29a): where that was truncated, deleted or replaced, it is
// begun anew within seconds, with the newest state. Where recording has stopped, Reopen begins again.
type Writer struct {
	queue  chan message
	reopen chan struct{}
	// quit is closed once nothing more is queued, done once the goroutine has ended.
	quit, done chan struct{}
	recorder   *recorder
	// patience is closeTimeout, other than in tests on a busy machine.
	patience time.Duration

	mutex sync.Mutex
	ended bool
	// behind tells that a message was dropped: none is queued before the goroutine has caught up.
	behind bool
	err    error
}

// startWriter begins without recording where there is a reason to.
func startWriter(recorder *recorder, reason error) *Writer {
	w := &Writer{
		// A record is queued in two parts, its input and its effects.
		queue:    make(chan message, 2*queuedRecords),
		reopen:   make(chan struct{}, 1),
		quit:     make(chan struct{}),
		done:     make(chan struct{}),
		recorder: recorder,
		patience: closeTimeout,
	}
	if reason != nil {
		w.err = reason
		w.tellStopped(reason)
	}
	go w.run()
	return w
}

// Append records an input that was taken up at a wall time. It comes before the input is reduced,
// so that the log holds an input that breaks the reducer (R32). Without effect after Close.
func (w *Writer) Append(at time.Time, input core.Input) {
	w.enqueue(message{isInput: true, at: at, input: input})
}

// Effects records what reducing the last input led to: effects and a state, from which the log can be
// begun anew.
func (w *Writer) Effects(effects []core.Effect, after core.State) {
	w.enqueue(message{effects: effects, after: &after})
}

// Reopen has the file at the path looked at now: one that was moved away is closed in order and begun
// anew at the path, and recording that has stopped is begun again, as soon as the newest state is
// known. It does not wait.
func (w *Writer) Reopen() {
	select {
	case w.reopen <- struct{}{}:
	default: // it is under way
	}
}

// Err tells why recording has stopped; nil while it goes on.
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
	w.mutex.Lock()
	if !w.ended {
		w.ended = true
		close(w.quit)
	}
	w.mutex.Unlock()
	timeout := time.NewTimer(w.patience)
	defer timeout.Stop()
	select {
	case <-w.done:
	case <-timeout.C:
		w.giveUp(fmt.Errorf("%w: writing the end of the log took over %v", ErrTooSlow, w.patience))
		// This frees the goroutine if the file is a pipe; nothing frees it from a hung disk, so
		// closing must not be waited for either.
		if file := w.recorder.shared.Load(); file != nil {
			go file.Close()
		}
	}
	return w.Err()
}

// enqueue holds the mutex throughout: nothing may be queued behind a message that was dropped.
func (w *Writer) enqueue(m message) {
	w.mutex.Lock()
	reason := w.enqueueLocked(m)
	w.mutex.Unlock()
	if reason != nil {
		w.tellStopped(reason)
	}
}

// enqueueLocked gives the reason if this message ends the recording.
func (w *Writer) enqueueLocked(m message) (reason error) {
	if w.ended || w.behind {
		return nil
	}
	select {
	case w.queue <- m:
		return nil
	default:
		w.behind = true
		if w.err != nil {
			return nil
		}
		w.err = fmt.Errorf("%w: %d records wait to be written", ErrTooSlow, queuedRecords)
		return w.err
	}
}

// giveUp keeps the first reason.
func (w *Writer) giveUp(reason error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.err == nil {
		w.err = reason
	}
}

func (w *Writer) tellStopped(reason error) {
	w.recorder.tell(Notice{Level: slog.LevelError, Text: "recording has stopped", Err: reason})
}

// run is the goroutine that owns the recorder.
func (w *Writer) run() {
	defer close(w.done)
	defer w.recorder.release()
	ticks := time.NewTicker(checkInterval)
	defer ticks.Stop()
	asked := false
	for {
		select {
		case m := <-w.queue:
			w.recorder.take(m)
		case <-ticks.C:
			w.recorder.checkPath()
		case <-w.reopen:
			asked = true
			w.recorder.checkPath()
		case <-w.quit:
			if len(w.queue) == 0 {
				w.conclude()
				return
			}
		}
		// It collects while more is waiting, and writes when it has caught up.
		if len(w.queue) > 0 && len(w.recorder.buffer) < maxBuffered {
			continue
		}
		w.flush()
		w.catchUp()
		if !w.recorder.unknown && w.beginAnew(asked) {
			asked = false
		}
	}
}

func (w *Writer) flush() {
	if w.recorder.file == nil {
		return
	}
	if err := w.recorder.flush(); err != nil {
		w.stop(fmt.Errorf("writing the input log: %w", err))
	}
}

// stop ends the recording with a last record, if that is still possible.
func (w *Writer) stop(reason error) {
	w.mutex.Lock()
	isTold := w.ended || w.err == reason // Close answers it
	if !w.ended || w.err == nil {
		w.err = reason
	}
	w.mutex.Unlock()
	if !isTold {
		w.tellStopped(reason)
	}
	if w.recorder.file != nil {
		w.recorder.writeStopped(reason)
	}
	w.recorder.release()
}

// catchUp ends the recording after what was queued before a message was dropped. From then on messages
// are taken again, if only for the state.
func (w *Writer) catchUp() {
	w.mutex.Lock()
	caughtUp := w.behind && len(w.queue) == 0
	reason := w.err
	w.behind = w.behind && !caughtUp
	w.mutex.Unlock()
	if caughtUp {
		w.recorder.unknown = true
		w.stop(reason)
	}
}

// beginAnew goes on in another file, or in the same one from its beginning, where that is due; it
// reports whether there is nothing left to do. A file that is asked for and still there is left alone.
func (w *Writer) beginAnew(asked bool) (done bool) {
	r := w.recorder
	why, level := r.disturbed, slog.LevelWarn
	if r.file == nil {
		why = "recording goes on"
	} else if why == "" {
		return true
	}
	if asked {
		level = slog.LevelInfo
	} else if r.file == nil {
		return true
	}
	if err := r.beginAnew(); err != nil {
		w.stop(err)
		return true
	}
	w.mutex.Lock()
	w.err = nil
	w.mutex.Unlock()
	r.notice(level, why)
	return true
}

// conclude ends the log.
func (w *Writer) conclude() {
	w.flush()
	r := w.recorder
	switch reason := w.Err(); {
	case r.file == nil:
	case reason != nil:
		r.writeStopped(reason)
	default:
		if err := r.writeClosing(); err != nil {
			w.stop(fmt.Errorf("writing the input log: %w", err))
		}
	}
}
