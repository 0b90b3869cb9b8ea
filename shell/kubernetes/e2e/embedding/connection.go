package embedding

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

const (
	// writeLimit bounds one request.
	writeLimit = 5 * time.Second
	// retryDelay is the time between a write that failed and the next one.
	retryDelay = time.Second
)

// connection writes to one agent, from a goroutine of its own, so that an agent that hangs holds up
// nobody else, and over an HTTP client of its own, so that nothing is left behind for a successor
// at the same address. That agents take a configuration by POST is this controller's invention.
type connection struct {
	url       string
	userAgent string
	client    *http.Client
	logger    *slog.Logger

	// last is the newest order, carried out or not; it belongs to the caller of write.
	last order
	// orders has room for the newest.
	orders chan order
	end    context.CancelFunc
	ended  chan struct{}
}

// order says what an agent is to get and by which credentials.
type order struct {
	credentials   core.Credentials
	configuration Configuration
}

// connect lasts until the term ends, or close.
func connect(
	term context.Context, identity core.Identity, userAgent string, logger *slog.Logger,
) *connection {
	ctx, end := context.WithCancel(term)
	c := &connection{
		url:       identity.URL + "/v1/configuration",
		userAgent: userAgent,
		client: &http.Client{
			Transport: &http.Transport{}, // no proxy stands between us and a pod
			Timeout:   writeLimit,
			CheckRedirect: func(*http.Request, []*http.Request) error {
				return http.ErrUseLastResponse // the credentials are for nobody else
			},
		},
		logger: logger.With("pod", identity.Key(), "uid", identity.UID),
		orders: make(chan order, 1),
		end:    end,
		ended:  make(chan struct{}),
	}
	go c.run(ctx)
	return c
}

// write never waits. The newest order counts. One goroutine at a time may call it.
func (c *connection) write(next order) {
	if next == c.last {
		return
	}
	c.last = next
	if next.configuration == "" {
		return // nobody has sent one yet
	}
	select {
	case <-c.orders:
	default:
	}
	c.orders <- next
}

// close returns once no request is under way any more.
func (c *connection) close() {
	c.end()
	<-c.ended
	c.client.CloseIdleConnections()
}

func (c *connection) run(ctx context.Context) {
	defer close(c.ended)
	for {
		var next order
		select {
		case next = <-c.orders:
		case <-ctx.Done():
			return
		}
		for err := c.post(ctx, next); err != nil; err = c.post(ctx, next) {
			if ctx.Err() != nil {
				return
			}
			c.logger.Warn("configuration not written", "error", err)
			select {
			case next = <-c.orders:
			case <-time.After(retryDelay):
			case <-ctx.Done():
				return
			}
		}
	}
}

func (c *connection) post(ctx context.Context, next order) error {
	request, err := http.NewRequestWithContext(
		ctx, http.MethodPost, c.url, strings.NewReader(string(next.configuration)))
	if err != nil {
		return err
	}
	request.Header.Set("User-Agent", c.userAgent)
	request.SetBasicAuth(next.credentials.Username(), next.credentials.Password().Reveal())
	response, err := c.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, io.LimitReader(response.Body, 1<<10)); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("answer %s", response.Status)
	}
	return nil
}
