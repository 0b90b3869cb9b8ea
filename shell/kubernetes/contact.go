package kubernetes

import (
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// silenceLimit is how long a watch may take to be opened before the silence counts as an error.
const silenceLimit = 15 * time.Second

// contact keeps book of a watch's contact with the API server, and logs when it is lost and when it
// is there again: once for each kind of failure, however often is tried in between.
type contact struct {
	resource string
	logger   *slog.Logger
	now      func() time.Time
	began    time.Time

	mu      sync.Mutex
	watches int // the next one may be opened before the last one is done with
	synced  bool
	last    time.Time
	failure *Failure
	since   time.Time
}

func newContact(resource string, logger *slog.Logger) *contact {
	return &contact{resource: resource, logger: logger, now: time.Now, began: time.Now()}
}

// heard: a list, an event or a bookmark has arrived.
func (c *contact) heard() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = c.now()
}

// opened: a watch is open.
func (c *contact) opened() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.watches++
	c.last = c.now()
}

// settled: a watch has been open for a moment. This alone ends a loss of contact: lists may still be
// permitted where watches are not, and a watch may fail as soon as it is open.
func (c *contact) settled() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failure != nil {
		c.logger.Info("contact with the API server again", "watch", c.resource,
			"after", c.now().Sub(c.since).Round(time.Millisecond))
		c.failure = nil
	}
}

// closed: the watch has ended, and the server was known to be there or not. That is no failure: a
// server ends every watch after some minutes.
func (c *contact) closed(known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.watches--
	if known {
		c.last = c.now()
	}
}

// failed: the API server could not be asked, or has refused.
func (c *contact) failed(failure *Failure) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.failure
	c.failure = failure
	switch {
	case before == nil:
		c.since = c.now()
	case before.kind == failure.kind:
		return
	}
	message := "no contact with the API server, what was seen last stands; trying again"
	if c.last.IsZero() {
		message = "no contact with the API server yet; trying again"
	}
	c.logger.Warn(message, "watch", c.resource, "error", failure)
}

func (c *contact) markSynced() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.synced = true
}

func (c *contact) view() View {
	c.mu.Lock()
	defer c.mu.Unlock()
	view := View{
		Resource: c.resource, Synced: c.synced, Connected: c.watches > 0, LastContact: c.last,
	}
	if view.Connected {
		view.LastContact = c.now()
	}
	if c.failure != nil {
		view.LastError = c.failure.Error()
	} else if silent := c.silentSince(); c.now().Sub(silent) > silenceLimit {
		view.LastError = fmt.Sprintf("no answer since %s: the API server hangs, or asks to be left alone",
			silent.UTC().Format(time.RFC3339))
	}
	return view
}

// silentSince is since when nothing was heard, no failure either: client-go obeys a server that asks
// to be left alone, and waits long for one that hangs, without telling anybody.
func (c *contact) silentSince() time.Time {
	switch {
	case c.watches > 0:
		return c.now()
	case c.last.IsZero():
		return c.began
	default:
		return c.last
	}
}
