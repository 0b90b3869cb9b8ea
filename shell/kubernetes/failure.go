package kubernetes

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"syscall"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Failure is a request to the API server that has failed: what was asked of whom, why it failed and
// what to do, in one line. It does not unwrap: client-go would take some causes as a reason to try
// again for long within one call.
type Failure struct {
	kind   failureKind
	asked  string
	server string
	err    error
}

// failureKind says what sort of failure it is, by what it takes to end it.
type failureKind string

const (
	unreachable  failureKind = "unreachable"
	untrusted    failureKind = "untrusted"
	unauthorized failureKind = "unauthorized"
	forbidden    failureKind = "forbidden"
	notFound     failureKind = "not_found"
	notFoundName failureKind = "not_found_name"
	unexpected   failureKind = "unexpected"
)

// Unreachable tells that the API server could not be asked, or could not answer for now: trying
// again may help. Any other failure is one of configuration or permission.
func (f *Failure) Unreachable() bool { return f.kind == unreachable }

// Error is one line. It holds no secret, see cause.
func (f *Failure) Error() string {
	text := fmt.Sprintf("%s at %s: %s", f.asked, f.server, cause(f.err))
	text = strings.Join(strings.Fields(text), " ")
	if advice := f.advice(); advice != "" {
		text += "; " + advice
	}
	return text
}

func (f *Failure) advice() string {
	switch f.kind {
	case unreachable:
		return "is the API server up, and its address right?"
	case untrusted:
		return "check the certificates of the kubeconfig and of the API server, and the clock"
	case unauthorized:
		return "the token or client certificate is not accepted: has it expired?"
	case forbidden:
		return "grant it: haproxy-discovery manifests prints the Role"
	case notFoundName:
		return "is the server's name in the kubeconfig right?"
	default:
		return ""
	}
}

func newFailure(asked, server string, err error) *Failure {
	return &Failure{kind: classify(err), asked: asked, server: server, err: err}
}

func classify(err error) failureKind {
	var status apierrors.APIStatus
	switch {
	case errors.As(err, &status):
		return classifyStatus(int(status.Status().Code))
	case isUntrusted(err):
		return untrusted
	case isUnknownName(err):
		return notFoundName
	case isDown(err):
		return unreachable
	default:
		return unexpected
	}
}

func classifyStatus(code int) failureKind {
	switch {
	case code == http.StatusUnauthorized:
		return unauthorized
	case code == http.StatusForbidden:
		return forbidden
	case code == http.StatusNotFound:
		return notFound
	case code == http.StatusTooManyRequests || code >= http.StatusInternalServerError:
		return unreachable
	default:
		return unexpected
	}
}

func isUntrusted(err error) bool {
	var verification *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	var hostname x509.HostnameError
	var alert tls.AlertError // such as: the server does not like our certificate
	return errors.As(err, &verification) || errors.As(err, &authority) || errors.As(err, &invalid) ||
		errors.As(err, &hostname) || errors.As(err, &alert)
}

// isUnknownName: the server's name does not exist, which will hardly change.
func isUnknownName(err error) bool {
	var name *net.DNSError
	return errors.As(err, &name) && name.IsNotFound
}

// isDown: the network or the server may recover.
func isDown(err error) bool {
	var network *net.OpError
	var number syscall.Errno
	var request *url.Error
	return errors.As(err, &network) || errors.As(err, &number) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, context.DeadlineExceeded) || errors.As(err, &request) && request.Timeout()
}

// maxCause bounds what is shown of a cause, in bytes.
const maxCause = 512

// cause says why in words that hold nothing of what was answered: apimachinery quotes an answer that it
// cannot decode, and client-go one that is no answer of the API, with whatever secrets are in it. The
// URL is left out, too: it repeats the server and drowns the rest.
func cause(err error) string {
	var status apierrors.APIStatus
	var request *url.Error
	var own inOwnWords
	text := "the answer is no object of the API"
	switch {
	case errors.As(err, &own):
		text = string(own)
	case errors.As(err, &status):
		text = statusText(status.Status())
	case errors.As(err, &request):
		text = request.Err.Error()
	case isUntrusted(err) || isDown(err):
		text = err.Error()
	}
	if len(text) > maxCause {
		text = strings.ToValidUTF8(text[:maxCause], "") + "…"
	}
	return text
}

func statusText(status metav1.Status) string {
	switch quoted, foreign := foreignText(status); {
	case !foreign:
		return status.Message
	case connectionLost.MatchString(quoted):
		return lostConnection
	default:
		return fmt.Sprintf("the answer is none of the API, status %d", status.Code)
	}
}

// foreignText is what client-go quotes of an answer that it takes for none of the API.
func foreignText(status metav1.Status) (quoted string, foreign bool) {
	if status.Details == nil {
		return "", false
	}
	for _, cause := range status.Details.Causes {
		if cause.Type == metav1.CauseTypeUnexpectedServerResponse {
			return cause.Message, true
		}
	}
	return "", false
}

const lostConnection = "the connection was lost"

// connectionLost are the ends of a connection that client-go takes for an answer.
var connectionLost = regexp.MustCompile(`^unable to decode an event from the watch stream: ` +
	`(http2: |stream error: |read tcp |context canceled|.*use of closed network connection$)`)

// inOwnWords is an error of this package's own, which quotes nothing that could be a secret.
type inOwnWords string

func (w inOwnWords) Error() string { return string(w) }

// foreignAnswer is an object of the API, but not what was asked for.
func foreignAnswer(kind, wanted string) error {
	return inOwnWords(fmt.Sprintf("the answer is of kind %q instead of %s", kind, wanted))
}
