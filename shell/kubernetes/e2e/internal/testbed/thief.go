package testbed

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
)

// Thief is a proxy in front of an API server that takes events out of the watches of pods, which stay
// open and look well. It asks as the administrator, is asked without TLS, and waits for a server that
// is away, as a load balancer may.
type Thief struct {
	// URL is where to ask.
	URL    string
	server *http.Server

	mu     sync.Mutex
	wanted string
	stolen int
}

// NewThief steals nothing until it is told to. Close it when done.
func (c *ControlPlane) NewThief() (*Thief, error) {
	config, err := c.config()
	if err != nil {
		return nil, err
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(NewAddress(), "8080"))
	if err != nil {
		return nil, err
	}
	t := &Thief{URL: "http://" + listener.Addr().String()}
	target := &url.URL{Scheme: "https", Host: c.Address()}
	t.server = &http.Server{Handler: &httputil.ReverseProxy{
		Rewrite: func(request *httputil.ProxyRequest) {
			request.SetURL(target)
			request.Out.Header.Del("Accept-Encoding") // what is to be read is not to be compressed
		},
		Transport:     patient{transport},
		FlushInterval: -1,
		ModifyResponse: func(response *http.Response) error {
			request := response.Request.URL
			if request.Query().Get("watch") == "true" && strings.HasSuffix(request.Path, "/pods") {
				response.Body = t.through(response.Body)
			}
			return nil
		},
	}}
	go func() { _ = t.server.Serve(listener) }()
	return t, nil
}

// patient tries again until somebody answers. All requests are reads.
type patient struct{ http.RoundTripper }

func (p patient) RoundTrip(request *http.Request) (*http.Response, error) {
	for {
		response, err := p.RoundTripper.RoundTrip(request)
		if err == nil || request.Context().Err() != nil {
			return response, err
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// Close ends it, and the connections through it.
func (t *Thief) Close() { _ = t.server.Close() }

// Steal takes the events of this type about the pod of this name, MODIFIED say, from now on.
func (t *Thief) Steal(kind, name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wanted, t.stolen = kind+" "+name, 0
}

// Stolen is how many events it has taken since Steal.
func (t *Thief) Stolen() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.stolen
}

func (t *Thief) takes(kind, name string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.wanted != kind+" "+name {
		return false
	}
	t.stolen++
	return true
}

// through passes a watch on, event by event.
func (t *Thief) through(body io.ReadCloser) io.ReadCloser {
	out, in := io.Pipe()
	go func() {
		events := json.NewDecoder(body)
		for {
			var raw json.RawMessage
			err := events.Decode(&raw)
			var event struct {
				Type   string
				Object unstructured.Unstructured
			}
			if err == nil {
				err = json.Unmarshal(raw, &event)
			}
			if err == nil && !t.takes(event.Type, event.Object.GetName()) {
				_, err = in.Write(append(raw, '\n'))
			}
			if err != nil {
				_ = in.Close() // to its client, the watch ends as watches do
				return
			}
		}
	}()
	return pipedBody{out, body}
}

// pipedBody closes what it is read from, too.
type pipedBody struct {
	*io.PipeReader
	body io.Closer
}

func (p pipedBody) Close() error {
	_ = p.PipeReader.Close()
	return p.body.Close()
}
