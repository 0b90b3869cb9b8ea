package effects

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

func TestProbeRefused(t *testing.T) {
	verifyNoProbeLeaks(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener.Close()
	outcome := probeOnce(t, "http://"+listener.Addr().String())
	wantFailure(t, outcome, core.CauseRefused, "connection refused")
}

func TestProbeStatus(t *testing.T) {
	for status, cause := range map[int]core.Cause{
		401: core.CauseUnauthorized, 403: core.CauseUnauthorized,
		101: core.CauseUnexpectedStatus, 201: core.CauseUnexpectedStatus,
		204: core.CauseUnexpectedStatus, 206: core.CauseUnexpectedStatus,
		304: core.CauseUnexpectedStatus, 404: core.CauseUnexpectedStatus,
		407: core.CauseUnexpectedStatus, 500: core.CauseUnexpectedStatus,
		503: core.CauseUnexpectedStatus, 999: core.CauseUnexpectedStatus,
	} {
		response := fmt.Sprintf("HTTP/1.1 %d Whatever\r\nContent-Length: %d\r\n\r\n%s",
			status, len(validDocument), validDocument)
		agent := newRawAgent(t, sending(response))
		wantFailure(t, probeOnce(t, agent.url), cause, fmt.Sprintf("status %d", status))
	}
}

func TestProbeResponseKinds(t *testing.T) {
	chunked := "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	chunk := fmt.Sprintf("%x\r\n%s\r\n", len(validDocument), validDocument)
	for name, test := range map[string]struct {
		response string
		cause    core.Cause
		detail   string
	}{
		"content length": {response: withLength(validDocument)},
		"chunked":        {response: chunked + chunk + "0\r\n\r\n"},
		"until closed":   {response: "HTTP/1.0 200 OK\r\n\r\n" + validDocument},
		"after 100 and 103": {response: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n" +
			"Link: x\r\n\r\n" + withLength(validDocument)},
		"headers of just 64 KiB": {response: paddedHeaders(maxHeaderBytes)},
		"headers of one byte more": {response: paddedHeaders(maxHeaderBytes + 1),
			cause: core.CauseTooLarge, detail: "headers over 64 KiB"},

		"closed at once": {cause: core.CauseTruncated, detail: "waiting for the response headers"},
		"cut in the headers": {response: "HTTP/1.1 200 OK\r\nContent-Le",
			cause: core.CauseTruncated, detail: "waiting for the response headers"},
		"shorter than its length": {
			response: "HTTP/1.1 200 OK\r\nContent-Length: 4096\r\n\r\n" + validDocument,
			cause:    core.CauseTruncated, detail: "reading the body"},
		"cut in a chunk": {response: chunked + "fff\r\n" + validDocument,
			cause: core.CauseTruncated, detail: "reading the body"},
		"no last chunk": {response: chunked + chunk,
			cause: core.CauseTruncated, detail: "reading the body"},
		"cut before the end of the last chunk": {response: chunked + chunk + "0\r\n",
			cause: core.CauseTruncated, detail: "reading the body"},
		"closed in the document": {response: "HTTP/1.0 200 OK\r\n\r\n" + validDocument[:40],
			cause: core.CauseTruncated, detail: "ended in the document"},

		"another protocol": {response: "SSH-2.0-OpenSSH_9.6 " + testPassword + "\r\n",
			cause: core.CauseOther, detail: "not well-formed HTTP"},
		"a bad status": {response: "HTTP/1.1 " + testPassword + " OK\r\n\r\n",
			cause: core.CauseOther, detail: "not well-formed HTTP"},
		"a bad header": {response: "HTTP/1.1 200 OK\r\n" + testPassword + "\r\n\r\n",
			cause: core.CauseOther, detail: "not well-formed HTTP"},
		"a bad chunk length": {response: chunked + testPassword + "\r\n",
			cause: core.CauseOther, detail: "not well-formed HTTP"},
		"another transfer encoding": {
			response: "HTTP/1.1 200 OK\r\nTransfer-Encoding: " + testPassword + "\r\n\r\n",
			cause:    core.CauseOther, detail: "not well-formed HTTP"},
	} {
		t.Run(name, func(t *testing.T) {
			verifyNoProbeLeaks(t)
			agent := newRawAgent(t, sending(test.response))
			if outcome := probeOnce(t, agent.url); test.cause == "" {
				wantAnswer(t, outcome, validAnswer)
			} else {
				wantFailure(t, outcome, test.cause, test.detail)
			}
			if agent.accepted.Load() != 1 {
				t.Errorf("%d connections, want 1", agent.accepted.Load())
			}
		})
	}
}

// paddedHeaders is a good response whose status line and headers have this many bytes, in part
// those of an informational response.
func paddedHeaders(size int) string {
	before := "HTTP/1.1 103 Early Hints\r\nX-Hint: " + strings.Repeat("h", 10_000) + "\r\n\r\n"
	head := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\nX-Pad: ", len(validDocument))
	padding := strings.Repeat("p", size-len(before)-len(head)-len("\r\n\r\n"))
	return before + head + padding + "\r\n\r\n" + validDocument
}

// A reset in mid-body is no clean end either.
func TestProbeReset(t *testing.T) {
	agent := newRawAgent(t, func(conn net.Conn, _ <-chan struct{}) {
		fmt.Fprint(conn, "HTTP/1.0 200 OK\r\n\r\n"+validDocument)
		_ = conn.(*net.TCPConn).SetLinger(0)
	})
	failure, isFailure := probeOnce(t, agent.url).(core.Failure)
	if !isFailure || failure.Cause != core.CauseTruncated {
		t.Errorf("outcome %+v, want truncated", failure)
	}
}

// Errors of the operating system are explained by their number's text alone.
func TestProbeCannotConnect(t *testing.T) {
	for number, want := range map[syscall.Errno]core.Failure{
		syscall.ECONNREFUSED: {Cause: core.CauseRefused, Detail: "connection refused"},
		syscall.EHOSTUNREACH: {Cause: core.CauseOther,
			Detail: "the connection failed while connecting: no route to host"},
		syscall.EMFILE: {Cause: core.CauseOther,
			Detail: "the connection failed while connecting: too many open files"},
		// Accepted and reset at once: whether that is seen while connecting is chance.
		syscall.ECONNRESET: {Cause: core.CauseTruncated, Detail: "the connection ended while connecting"},
	} {
		prober := newTestProber(t, TLSFiles{})
		prober.dial = func(context.Context, string, string) (net.Conn, error) {
			return nil, &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", number)}
		}
		outcome := prober.Probe(context.Background(), probeOf(t, "http://192.0.2.10:5555", ampleTime))
		if outcome != core.Outcome(want) {
			t.Errorf("%v: outcome %+v, want %+v", number, outcome, want)
		}
	}
	wantFailure(t, probeOnce(t, "http://127.0.0.1:99999"), core.CauseOther, "failed while connecting")
}

func gzipped(t testing.TB, text string) []byte {
	t.Helper()
	var buffer bytes.Buffer
	writer := gzip.NewWriter(&buffer)
	fmt.Fprint(writer, text)
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return buffer.Bytes()
}

func TestProbeContentEncoding(t *testing.T) {
	good := gzipped(t, validDocument)
	corrupt := bytes.Clone(good)
	corrupt[len(corrupt)-6] ^= 0xff // the checksum
	trailed := append(bytes.Clone(good), validDocument...)
	for name, test := range map[string]struct {
		encodings []string
		body      []byte
		cause     core.Cause
	}{
		"gzip":          {encodings: []string{"gzip"}, body: good},
		"letter case":   {encodings: []string{"GZip"}, body: good},
		"identity":      {encodings: []string{"identity"}, body: []byte(validDocument)},
		"undeclared":    {body: good, cause: core.CauseInvalidDocument},
		"not gzip":      {[]string{"gzip"}, []byte(validDocument), core.CauseInvalidDocument},
		"corrupt":       {[]string{"gzip"}, corrupt, core.CauseInvalidDocument},
		"cut":           {[]string{"gzip"}, good[:len(good)-20], core.CauseTruncated},
		"trailing data": {[]string{"gzip"}, trailed, core.CauseInvalidDocument},
		"twice":         {[]string{"gzip", "gzip"}, good, core.CauseInvalidDocument},
		"brotli":        {[]string{"br"}, good, core.CauseInvalidDocument},
	} {
		t.Run(name, func(t *testing.T) {
			agent := newHTTPAgent(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header()["Content-Encoding"] = test.encodings
				_, _ = w.Write(test.body)
			})
			if outcome := probeOnce(t, agent.URL); test.cause == "" {
				wantAnswer(t, outcome, validAnswer)
			} else {
				wantFailure(t, outcome, test.cause, "")
			}
		})
	}
}
