package effects

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"testing"
	"testing/iotest"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/fuzz/bounds"
)

// FuzzResponse: whatever an agent sends, from the first byte of its response on, probing ends,
// costs bounded memory, and gives an answer or a failure without a secret. How the bytes arrive
// makes no difference, and a connection that ends early never makes an answer another one (R23,
// R25, R26).
func FuzzResponse(f *testing.F) {
	basic := base64.StdEncoding.EncodeToString([]byte("admin:" + testPassword))
	// Responses beyond the limits are left to other tests: they would take all of the fuzzer's time.
	for _, response := range []string{
		withLength(validDocument),
		withLength(versionDocument(testPassword)),
		"HTTP/1.1 103 Early\r\nLink: x\r\n\r\n" + withLength(validDocument),
		"HTTP/1.1 401 " + testPassword + "\r\nWWW-Authenticate: " + basic + "\r\n\r\n" + basic,
		"HTTP/1.0 200 OK\r\n\r\n" + validDocument,
		"HTTP/1.1 200 OK\r\n" + basic + "\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
		"HTTP/1.1 200 OK\r\nContent-Encoding: " + testPassword + "\r\n\r\n{}",
		"HTTP/1.1 302 Found\r\nLocation: http://" + testPassword + "/\r\n\r\n",
		"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
		fmt.Sprintf("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\nX: y\r\n\r\n",
			len(validDocument), validDocument),
		"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + string(gzipped(f, validDocument)),
	} {
		f.Add([]byte(response), uint16(len(response)-10))
	}
	sent := []core.Credentials{testCredentials(f, testPassword)}
	f.Fuzz(func(t *testing.T, response []byte, end uint16) {
		var outcome core.Outcome
		perByte := 100
		if bytes.Contains(bytes.ToLower(response), []byte("gzip")) {
			perByte += 3 * maxBodyBytes / len(response) // What is decoded has a limit of its own.
		}
		bounds.Hold(t, len(response), perByte, func() {
			outcome = probeBytes(t, bytes.NewReader(response))
		})
		switch outcome := outcome.(type) {
		case core.Failure:
			checkFailure(t, outcome, sent)
		case core.Answer:
			checkAnswer(t, outcome, sent)
		default:
			t.Errorf("outcome %+v", outcome)
		}
		for how, in := range map[string]io.Reader{
			"byte by byte":         iotest.OneByteReader(bytes.NewReader(response)),
			"with the end at hand": iotest.DataErrReader(bytes.NewReader(response)),
		} {
			if again := probeBytes(t, in); again != outcome {
				t.Errorf("%s the outcome is %+v instead of %+v", how, again, outcome)
			}
		}
		ended := probeBytes(t, bytes.NewReader(response[:min(int(end), len(response))]))
		if _, isFailure := ended.(core.Failure); !isFailure && ended != outcome {
			if _, wasAnswer := outcome.(core.Answer); wasAnswer {
				t.Errorf("ended early, the outcome is %+v instead of %+v", ended, outcome)
			}
		}
	})
}

// probeBytes probes an agent that sends what the reader gives.
func probeBytes(t *testing.T, response io.Reader) core.Outcome {
	t.Helper()
	prober := newTestProber(t, TLSFiles{})
	prober.dial = func(context.Context, string, string) (net.Conn, error) {
		return &scriptedConn{in: response}, nil
	}
	return prober.Probe(context.Background(), probeOf(t, "http://10.1.0.10:5555", ampleTime))
}

// scriptedConn is a connection whose other side sends fixed bytes, whatever it is asked.
type scriptedConn struct {
	net.Conn
	in io.Reader
}

func (c *scriptedConn) Read(p []byte) (int, error)  { return c.in.Read(p) }
func (c *scriptedConn) Write(p []byte) (int, error) { return len(p), nil }
func (c *scriptedConn) Close() error                { return nil }
func (c *scriptedConn) SetDeadline(time.Time) error { return nil }
