package status_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/shell/status"
)

// pipes is a listener of connections in memory, which let the virtual clock run while they wait.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if connection, open := <-p; open {
		return connection, nil
	}
	return nil, net.ErrClosed
}

func (p pipes) Close() error {
	close(p)
	return nil
}

func (p pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes", Net: "unix"} }

// openStream serves as a program does, with all its limits, and asks for the stream.
func openStream(t *testing.T) (page net.Conn) {
	t.Helper()
	listener := make(pipes)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- status.Serve(ctx, listener, status.New(status.Options{}), nil) }()
	page, connection := net.Pipe()
	t.Cleanup(func() {
		_ = page.Close()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	listener <- connection
	if _, err := io.WriteString(page, "GET /events HTTP/1.1\r\nHost: discovery\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	return page
}

// A page that is left open stays connected beyond the limits for requests, and hears of the server
// while nothing happens.
func TestStreamOutlivesTheLimitsForRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		response, err := http.ReadResponse(bufio.NewReader(openStream(t)), nil)
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		last := begun
		for lines := bufio.NewReader(response.Body); last.Sub(begun) < 5*time.Minute; {
			line, err := lines.ReadString('\n')
			if err != nil {
				t.Fatalf("the stream has ended after %v: %v", time.Since(begun), err)
			}
			if !strings.HasPrefix(line, "data: ") {
				continue
			}
			if silence := time.Since(last); silence > 5*time.Second {
				t.Errorf("a message after %v of silence", silence)
			}
			last = time.Now()
		}
	})
}

// A page that leaves a message unread is dropped after ten seconds, not sooner.
func TestStreamDropsWhoDoesNotRead(t *testing.T) {
	for after, dropped := range map[time.Duration]bool{9 * time.Second: false, 11 * time.Second: true} {
		synctest.Test(t, func(t *testing.T) {
			page := openStream(t)
			time.Sleep(after)
			_, err := page.Read(make([]byte, 1))
			if errors.Is(err, io.EOF) != dropped || !dropped && err != nil {
				t.Errorf("a page that reads after %v: %v", after, err)
			}
		})
	}
}
