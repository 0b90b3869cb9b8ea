package effects

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// stage is what a probe is doing: it tells where the time went, or the connection.
type stage string

const (
	stageConnect   stage = "connecting"
	stageHandshake stage = "in the TLS handshake"
	stageHeaders   stage = "waiting for the response headers"
	stageBody      stage = "reading the body"
)

// failure is a verdict over the agent, on its way out of the call stack.
type failure core.Failure

// Error implements error.
func (f failure) Error() string { return f.Detail }

// failed makes a failure. Only words and numbers of our own may go into it (R26).
func failed(cause core.Cause, format string, args ...any) failure {
	return failure{Cause: cause, Detail: fmt.Sprintf(format, args...)}
}

var errMalformedResponse = failed(core.CauseOther, "the response is not well-formed HTTP")

// isTimeout finds deadlines, those of the dialler included, which may fire just before the context.
func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

// brokenConnection classifies an error of the operating system or of TLS by its type (R23).
func brokenConnection(at stage, err error) failure {
	var alert *net.OpError
	var number syscall.Errno
	switch {
	case errors.As(err, &alert) && (alert.Op == "remote error" || alert.Op == "local error"):
		return failed(core.CauseTLS, "the TLS session broke while %s%s", at, alertText(err))
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return failed(core.CauseTruncated, "the connection ended while %s", at)
	case errors.Is(err, syscall.ECONNREFUSED):
		return failed(core.CauseRefused, "connection refused")
	case errors.As(err, &number):
		return failed(core.CauseOther, "the connection failed while %s: %s", at, number.Error())
	default:
		return failed(core.CauseOther, "the connection failed while %s", at)
	}
}

// handshakeFailure says in our own words why there is no TLS session: certificates hold text that
// is the agent's.
func handshakeFailure(err error) failure {
	var (
		plain     tls.RecordHeaderError
		authority x509.UnknownAuthorityError
		name      x509.HostnameError
		invalid   x509.CertificateInvalidError
		untrusted *tls.CertificateVerificationError
	)
	detail := "the TLS handshake failed"
	switch {
	case errors.As(err, &plain):
		detail = "the agent does not speak TLS"
	case errors.As(err, &authority):
		detail = "the agent's certificate is not signed by a trusted CA"
	case errors.As(err, &name):
		detail = "the agent's certificate is for another name"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		detail = "the agent's certificate has expired or is not valid yet"
	case errors.As(err, &untrusted):
		detail = "the agent's certificate is not valid"
	case alertText(err) != "":
		detail = "the agent ended the TLS handshake" + alertText(err)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		detail = "the connection ended in the TLS handshake"
	}
	return failed(core.CauseTLS, "%s", detail)
}

// alertText names a TLS alert that the agent sent: one number on the wire, whose text is from the
// table of the TLS library.
func alertText(err error) string {
	var alert *net.OpError
	if errors.As(err, &alert) && alert.Op == "remote error" {
		return " (" + alert.Err.Error() + ")"
	}
	return ""
}
