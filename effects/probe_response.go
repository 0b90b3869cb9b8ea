package effects

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"strings"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

const (
	// maxHeaderBytes bounds the bytes before the body, informational responses included (R25).
	maxHeaderBytes = 64 << 10
	// maxBodyBytes bounds the decoded body (R25).
	maxBodyBytes = 8 << 20
	// firstBodyBytes holds most documents; the buffer grows from here.
	firstBodyBytes = 16 << 10
)

var errHeaderLimit = errors.New("response headers too long")

// wire is the agent's side of the connection. The probe parses responses straight from it with
// http.ReadResponse instead of going through http.Transport, because that one logs, and quotes,
// what a peer sends unasked on a fresh connection (R26); and a connection that serves a single
// request needs neither a pool nor goroutines.
//
// Parsers wrap and quote, so wire remembers for itself why reading ended: err is the first error
// of the connection, io.EOF included.
type wire struct {
	conn   net.Conn
	buffer *bufio.Reader
	left   int64
	err    error
}

func newWire(conn net.Conn) *wire {
	w := &wire{conn: conn, left: maxHeaderBytes}
	w.buffer = bufio.NewReader(w)
	return w
}

// Read serves the buffer. An error that comes together with bytes, as TLS may give it, is left for
// the next call: what the bytes say does not depend on what follows them.
func (w *wire) Read(p []byte) (int, error) {
	if w.left == 0 {
		w.err = errHeaderLimit
		return 0, w.err
	}
	n, err := w.conn.Read(p[:min(int64(len(p)), w.left)])
	w.left -= int64(n)
	if n > 0 {
		return n, nil
	}
	if err != nil {
		w.err = err
	}
	return 0, err
}

// readHeaders reads up to the beginning of the body of the final response.
func (w *wire) readHeaders(request *http.Request) (*http.Response, error) {
	for {
		response, err := http.ReadResponse(w.buffer, request)
		switch {
		case err == nil && isInformational(response.StatusCode):
			continue
		case err == nil:
			w.left = math.MaxInt64
			return response, nil
		case w.err == errHeaderLimit:
			return nil, failed(core.CauseTooLarge, "headers over %d KiB", maxHeaderBytes>>10)
		case w.err != nil:
			return nil, w.err
		default:
			return nil, errMalformedResponse
		}
	}
}

// isInformational leaves out 101, after which no HTTP response follows.
func isInformational(status int) bool {
	return status/100 == 1 && status != http.StatusSwitchingProtocols
}

// readBody gives the whole decoded body. It does not close the response's body, since that would
// read it to its end: closing the connection is enough.
func (w *wire) readBody(response *http.Response) ([]byte, error) {
	var reader io.Reader = response.Body
	switch encoding := strings.Join(response.Header.Values("Content-Encoding"), ","); {
	case encoding == "" || strings.EqualFold(encoding, "identity"):
	case strings.EqualFold(encoding, "gzip") || strings.EqualFold(encoding, "x-gzip"):
		inflated, err := gzip.NewReader(reader)
		if err != nil {
			return nil, w.bodyFailure(err)
		}
		reader = inflated
	default:
		return nil, failed(core.CauseInvalidDocument, "a content encoding other than gzip")
	}
	body, err := readLimited(reader)
	if err != nil {
		return nil, w.bodyFailure(err)
	}
	return body, nil
}

// readLimited is io.ReadAll with a limit, after which it reads just one byte more, and with a
// buffer that never gets larger than the two together.
func readLimited(reader io.Reader) ([]byte, error) {
	body := make([]byte, 0, firstBodyBytes)
	for {
		n, err := reader.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case len(body) > maxBodyBytes:
			return nil, failed(core.CauseTooLarge, "body over %d MiB", maxBodyBytes>>20)
		case err == io.EOF:
			return body, nil
		case err != nil:
			return nil, err
		case len(body) == cap(body):
			body = append(make([]byte, 0, largerBuffer(cap(body))), body...)
		}
	}
}

// largerBuffer grows in few steps, so that little garbage is left behind.
func largerBuffer(size int) int {
	if size *= 4; size < maxBodyBytes {
		return size
	}
	return maxBodyBytes + 1
}

// bodyFailure tells the encoding's errors, the connection's and those of the HTTP framing apart.
func (w *wire) bodyFailure(err error) error {
	var corrupt flate.CorruptInputError
	var known failure
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &corrupt), errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum):
		return failed(core.CauseInvalidDocument, "the body is not gzip, as its headers say")
	case w.err != nil:
		return w.err
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return io.ErrUnexpectedEOF
	default:
		return errMalformedResponse
	}
}

// endsWithConnection tells that nothing but the end of the connection marks the end of the body,
// so that only the document itself can show that it was cut.
func endsWithConnection(response *http.Response) bool {
	return response.ContentLength < 0 && len(response.TransferEncoding) == 0
}
