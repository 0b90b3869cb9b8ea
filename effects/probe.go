package effects

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// statePath is where an agent serves its document.
const statePath = "/v1/state"

// Prober asks agents whether they answer. It keeps no connection and no goroutine between probes
// and is safe for concurrent use; how many probes run at once is the reducer's business (R21).
type Prober struct {
	trust *trust
	sent  sentCredentials
	dial  func(ctx context.Context, network, address string) (net.Conn, error)
}

// NewProber makes a prober that speaks TLS, to agents with an https URL, as the files say. The
// error, one line, names the file that cannot be used and what is wrong with it.
func NewProber(files TLSFiles) (*Prober, error) {
	trust, err := loadTrust(files)
	if err != nil {
		return nil, err
	}
	dialer := &net.Dialer{KeepAlive: -1} // nothing lives longer than a probe
	return &Prober{trust: trust, dial: dialer.DialContext}, nil
}

// TLSProblem looks at the TLS files and names those that cannot be used as they are now, in one line
// each; nil if all can. What could be used last stays in use.
func (p *Prober) TLSProblem() error { return p.trust.problem() }

// Probe is one GET of the agent's document on a connection of its own (R25). It returns a
// core.Answer or a core.Failure at the latest when probe.Timeout has passed since the call, and
// soon after ctx is cancelled, which gives the failure "other: cancelled".
//
// A failure's detail consists of fixed words and of numbers of ours (R26): neither the agent's
// bytes nor an error that might quote them get into it.
func (p *Prober) Probe(ctx context.Context, probe core.StartProbe) core.Outcome {
	limited, stop := context.WithTimeout(ctx, probe.Timeout)
	defer stop()
	attempt := attempt{
		prober: p, credentials: probe.Credentials, sent: p.sent.add(probe.Credentials),
		stage: stageConnect,
	}
	answer, err := attempt.run(limited, probe.Identity.URL)
	if err == nil {
		return answer
	}
	var known failure
	switch decided := errors.As(err, &known); {
	case ctx.Err() != nil:
		return core.Failure{Cause: core.CauseOther, Detail: "cancelled"}
	case decided:
		return core.Failure(attempt.explain(known))
	case limited.Err() != nil || isTimeout(err):
		return core.Failure{
			Cause:  core.CauseTimeout,
			Detail: fmt.Sprintf("no complete answer within %v, still %s", probe.Timeout, attempt.stage),
		}
	default:
		return core.Failure(attempt.explain(brokenConnection(attempt.stage, err)))
	}
}

// attempt is one probe under way.
type attempt struct {
	prober      *Prober
	credentials core.Credentials
	sent        []core.Credentials
	stage       stage
	// flaws names the TLS files whose newest content could not be used, or not wholly.
	flaws string
}

// explain adds what may have caused a TLS failure on our side.
func (a *attempt) explain(f failure) failure {
	if f.Cause == core.CauseTLS {
		f.Detail += a.flaws
	}
	return f
}

// run gives the answer, a failure, or an error of the connection, which is only good for being
// classified: it must not be shown.
func (a *attempt) run(ctx context.Context, agentURL string) (core.Answer, error) {
	request, err := newRequest(agentURL, a.credentials)
	if err != nil {
		return core.Answer{}, err
	}
	socket, err := a.prober.dial(ctx, "tcp", request.URL.Host)
	if err != nil {
		return core.Answer{}, err
	}
	defer socket.Close()
	// Closing is what ends a read or a write when the time is up.
	release := context.AfterFunc(ctx, func() { socket.Close() })
	defer release()

	var conn net.Conn = &patientConn{Conn: socket}
	if request.URL.Scheme == "https" {
		if conn, err = a.handshake(ctx, conn, request.URL.Hostname()); err != nil {
			return core.Answer{}, err
		}
	}
	a.stage = stageHeaders
	if err := request.Write(conn); err != nil {
		return core.Answer{}, err
	}
	return a.receive(conn, request)
}

func (a *attempt) handshake(ctx context.Context, plain net.Conn, host string) (net.Conn, error) {
	a.stage = stageHandshake
	config, flaws := a.prober.trust.config(host)
	a.flaws = flaws
	conn := tls.Client(plain, config)
	err := conn.HandshakeContext(ctx)
	switch {
	case err == nil:
		return conn, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	default:
		return nil, handshakeFailure(err)
	}
}

// receive reads the response: its headers, its status, its whole body, and only then the document.
func (a *attempt) receive(conn net.Conn, request *http.Request) (core.Answer, error) {
	wire := newWire(conn)
	response, err := wire.readHeaders(request)
	if err != nil {
		return core.Answer{}, err
	}
	switch response.StatusCode {
	case http.StatusOK:
	case http.StatusUnauthorized, http.StatusForbidden:
		return core.Answer{}, failed(core.CauseUnauthorized, "status %d", response.StatusCode)
	default:
		return core.Answer{}, failed(core.CauseUnexpectedStatus, "status %d", response.StatusCode)
	}
	a.stage = stageBody
	body, err := wire.readBody(response)
	if err != nil {
		return core.Answer{}, err
	}
	document, err := parseDocument(body)
	if errors.Is(err, errIncomplete) && endsWithConnection(response) {
		return core.Answer{}, failed(core.CauseTruncated, "the connection ended in the document")
	}
	if err != nil {
		return core.Answer{}, err
	}
	return document.answer(a.sent)
}
