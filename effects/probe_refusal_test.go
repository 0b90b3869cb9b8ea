package effects

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// lateWriter is a connection whose writes, but for the first few, come after the peer has closed it.
type lateWriter struct {
	net.Conn
	early  int
	closed <-chan struct{}
}

func (c *lateWriter) Write(p []byte) (int, error) {
	if c.early--; c.early < 0 {
		<-c.closed
	}
	return c.Conn.Write(p)
}

// probeLate probes an agent with such a connection. talk is what the agent says to it, before the
// connection is reset.
func probeLate(t *testing.T, prober *Prober, scheme string, early int, talk func(net.Conn)) core.Outcome {
	t.Helper()
	dialled, closed := make(chan struct{}), make(chan struct{})
	agent := newUnreadAgent(t, func(conn net.Conn, _ <-chan struct{}) {
		defer close(closed)
		<-dialled
		talk(conn)
		_ = conn.(*net.TCPConn).SetLinger(0)
		conn.Close()
	})
	prober.dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
		close(dialled)
		return &lateWriter{Conn: conn, early: early, closed: closed}, err
	}
	return probeWith(t, prober, scheme+strings.TrimPrefix(agent.url, "http"))
}

// R23: an agent that refuses the client's certificate says so and closes. It is a failure of TLS
// even if no write succeeds any more when its alert could be read, in whichever flight that was.
func TestRefusedClientCertificateIsAlwaysATLSFailure(t *testing.T) {
	verifyNoProbeLeaks(t)
	ca, dir := newAuthority(t, "ca"), newPEMDir(t)
	certificate, key := ca.issue(nil)
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	for version, alert := range map[uint16]string{
		tls.VersionTLS12: "(tls: handshake failure)", tls.VersionTLS13: "(tls: certificate required)",
	} {
		config := &tls.Config{
			Certificates: []tls.Certificate{pair}, MinVersion: version, MaxVersion: version,
			ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: x509.NewCertPool(),
		}
		prober := newTestProber(t, TLSFiles{CA: dir.write("ca.pem", ca.pem)})
		outcome := probeLate(t, prober, "https", 2, func(conn net.Conn) {
			if err := tls.Server(conn, config).Handshake(); err == nil {
				t.Error("the handshake succeeded")
			}
		})
		wantFailure(t, outcome, core.CauseTLS, alert)
	}
	// An agent that knows no common version says so to the first message.
	prober := newTestProber(t, TLSFiles{CA: dir.write("ca.pem", ca.pem)})
	outcome := probeLate(t, prober, "https", 0, func(conn net.Conn) {
		fmt.Fprint(conn, "\x15\x03\x01\x00\x02\x02\x46")
	})
	wantFailure(t, outcome, core.CauseTLS, "protocol version not supported")
}

// The same, many times, with whatever comes first.
func TestRefusedClientCertificateManyTimes(t *testing.T) {
	verifyNoProbeLeaks(t)
	ca, clients, dir := newAuthority(t, "ca"), newAuthority(t, "clients"), newPEMDir(t)
	certificate, key := ca.issue(nil)
	agent := newTLSAgent(t, certificate, key, clients)
	foreign, foreignKey := newAuthority(t, "foreign").issue(nil)
	prober := newTestProber(t, TLSFiles{CA: dir.write("ca.pem", ca.pem),
		Certificate: dir.write("tls.crt", foreign), Key: dir.write("tls.key", foreignKey)})
	for range 300 {
		wantFailure(t, probeWith(t, prober, agent), core.CauseTLS, "certificate required")
		if t.Failed() {
			break
		}
	}
}

// R23: what an agent says before it reads the request counts, whether or not the request can still be
// sent. Who says nothing has ended the connection.
func TestAnswerBeforeTheRequest(t *testing.T) {
	verifyNoProbeLeaks(t)
	for name, test := range map[string]struct {
		response string
		cause    core.Cause
		detail   string
	}{
		"401":       {"HTTP/1.1 401 No\r\nContent-Length: 9\r\n\r\nnot today", core.CauseUnauthorized, "status 401"},
		"413":       {"HTTP/1.1 413 No\r\n\r\n", core.CauseUnexpectedStatus, "status 413"},
		"no HTTP":   {"SSH-2.0-OpenSSH_9.6\r\n", core.CauseOther, "not well-formed HTTP"},
		"half":      {"HTTP/1.1 401", core.CauseTruncated, "the connection ended"},
		"nothing":   {"", core.CauseTruncated, "the connection ended"},
		"an answer": {response: withLength(validDocument)},
	} {
		t.Run(name, func(t *testing.T) {
			prober := newTestProber(t, TLSFiles{})
			outcome := probeLate(t, prober, "http", 0, func(conn net.Conn) { fmt.Fprint(conn, test.response) })
			if test.cause == "" {
				wantAnswer(t, outcome, validAnswer)
			} else {
				wantFailure(t, outcome, test.cause, test.detail)
			}
		})
	}
}
