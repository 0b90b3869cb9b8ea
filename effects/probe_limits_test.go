package effects

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// atOnce probes one agent 16 times at once and gives the outcomes.
func atOnce(t testing.TB, agentURL string, timeout time.Duration) []core.Outcome {
	t.Helper()
	prober := newTestProber(t, TLSFiles{})
	outcomes := make([]core.Outcome, 16)
	var probes sync.WaitGroup
	for i := range outcomes {
		probes.Go(func() {
			outcomes[i] = prober.Probe(context.Background(), probeOf(t, agentURL, timeout))
		})
	}
	probes.Wait()
	return outcomes
}

// pour writes a block again and again, until the reader has had enough or total is reached.
func pour(w io.Writer, block []byte, total int) {
	for sent := 0; sent < total; sent += len(block) {
		if _, err := w.Write(block); err != nil {
			return
		}
	}
}

const endless = 1 << 40

func padded(size int) string {
	pad := strings.Repeat("x", size-len(validDocument)-len(`,"pad":""`))
	return strings.TrimSuffix(validDocument, "}") + `,"pad":"` + pad + `"}`
}

// Too much of anything is noticed, 16 at once, with memory that does not depend on how
// much the agent would send.
func TestProbeBoundsMemory(t *testing.T) {
	verifyNoProbeLeaks(t)
	var bomb bytes.Buffer
	deflating := gzip.NewWriter(&bomb)
	pour(deflating, make([]byte, 1<<20), 64<<20)
	deflating.Close()
	block := bytes.Repeat([]byte("x"), 32<<10)
	overCap := []byte(padded(maxBodyBytes + 1))

	kinds := map[string]struct {
		cause  core.Cause
		detail string
		handle http.HandlerFunc
	}{
		"1 GiB": {core.CauseTooLarge, "body over 8 MiB", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1073741824")
			pour(w, block, 1<<30)
		}},
		"endless chunks": {core.CauseTooLarge, "body over 8 MiB",
			func(w http.ResponseWriter, _ *http.Request) { pour(w, block, endless) }},
		"endless space after a document": {core.CauseTooLarge, "body over 8 MiB",
			func(w http.ResponseWriter, _ *http.Request) {
				fmt.Fprint(w, validDocument)
				pour(w, bytes.Repeat([]byte(" "), 32<<10), endless)
			}},
		"gzip of 64 MiB": {core.CauseTooLarge, "body over 8 MiB",
			func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Encoding", "gzip")
				_, _ = w.Write(bomb.Bytes())
			}},
		"one byte over the cap": {core.CauseTooLarge, "body over 8 MiB",
			func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(overCap) }},
		"2 MiB of headers": {core.CauseTooLarge, "headers over 64 KiB",
			func(w http.ResponseWriter, _ *http.Request) {
				for i := range 64 {
					w.Header().Set(fmt.Sprintf("X-Large-%d", i), string(block))
				}
			}},
		"500 with an endless body": {core.CauseUnexpectedStatus, "status 500",
			func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusInternalServerError)
				pour(w, block, endless)
			}},
		"8 MiB of open arrays": {core.CauseInvalidDocument, "",
			func(w http.ResponseWriter, _ *http.Request) {
				pour(w, bytes.Repeat([]byte("["), 32<<10), maxBodyBytes)
			}},
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	prober := newTestProber(t, TLSFiles{})
	var probes sync.WaitGroup
	for _, test := range kinds {
		agent := newHTTPAgent(t, test.handle)
		for range 16 / len(kinds) {
			probes.Go(func() {
				wantFailure(t, probeWith(t, prober, agent.URL), test.cause, test.detail)
			})
		}
	}
	probes.Wait()
	runtime.ReadMemStats(&after)
	// All that was ever allocated, freed or not: each probe's buffers, once.
	if got := after.TotalAlloc - before.TotalAlloc; got > 16*12<<20 {
		t.Errorf("16 probes allocated %d MiB", got>>20)
	}
}

// What stays within the limits is admitted.
func TestProbeReadsLargeDocuments(t *testing.T) {
	for _, size := range []int{50_000, maxBodyBytes} {
		agent := newHTTPAgent(t, answering(padded(size)))
		wantAnswer(t, probeOnce(t, agent.URL), validAnswer)
	}
}

// One overall limit ends every kind of slowness, and leaves no goroutine behind.
func TestProbeTimesOut(t *testing.T) {
	for name, test := range map[string]struct {
		stage string
		talk  func(net.Conn, <-chan struct{})
	}{
		"silence":       {"waiting for the response headers", sendingThenSilent("")},
		"half a header": {"waiting for the response headers", sendingThenSilent("HTTP/1.1 200")},
		"only 100s": {"waiting for the response headers",
			sendingThenSilent("HTTP/1.1 100 x\r\n\r\n")},
		"headers, then silence": {"reading the body",
			sendingThenSilent("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")},
		"a document in an open stream": {"reading the body",
			sendingThenSilent("HTTP/1.1 200 OK\r\n\r\n" + validDocument)},
		"a document in open chunks": {"reading the body", sendingThenSilent(fmt.Sprintf(
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n",
			len(validDocument), validDocument))},
		"a byte now and then": {"reading the body", func(conn net.Conn, done <-chan struct{}) {
			fmt.Fprint(conn, "HTTP/1.1 200 OK\r\n\r\n")
			trickle := time.NewTicker(20 * time.Millisecond)
			defer trickle.Stop()
			for {
				select {
				case <-done:
					return
				case <-trickle.C:
					if _, err := fmt.Fprint(conn, " "); err != nil {
						return
					}
				}
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			verifyNoProbeLeaks(t)
			agent := newRawAgent(t, test.talk)
			const limit = 400 * time.Millisecond
			began := time.Now()
			for _, outcome := range atOnce(t, agent.url, limit) {
				wantFailure(t, outcome, core.CauseTimeout, "within 400ms, still "+test.stage)
			}
			if elapsed := time.Since(began); elapsed < limit || elapsed > limit+5*time.Second {
				t.Errorf("took %v for a limit of %v", elapsed, limit)
			}
			if agent.accepted.Load() != 16 {
				t.Errorf("%d connections, want 16", agent.accepted.Load())
			}
		})
	}
}

// Informational responses without end.
func TestProbeEndsEndlessInformationalResponses(t *testing.T) {
	verifyNoProbeLeaks(t)
	agent := newRawAgent(t, func(conn net.Conn, _ <-chan struct{}) {
		pour(conn, []byte("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"), endless)
	})
	for _, outcome := range atOnce(t, agent.url, ampleTime) {
		wantFailure(t, outcome, core.CauseTooLarge, "headers over 64 KiB")
	}
}

// The limit covers connecting too, and starts with the call.
func TestProbeTimesOutConnecting(t *testing.T) {
	verifyNoProbeLeaks(t)
	prober := newTestProber(t, TLSFiles{})
	prober.dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	for _, limit := range []time.Duration{0, 20 * time.Millisecond} {
		outcome := prober.Probe(context.Background(), probeOf(t, "http://192.0.2.10:5555", limit))
		wantFailure(t, outcome, core.CauseTimeout, fmt.Sprintf("within %v, still connecting", limit))
	}
}
