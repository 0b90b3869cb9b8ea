package status

import (
	"net/http"
	"sync/atomic"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/shell"
	"github.com/haproxy-discovery/haproxy-discovery/shell/timeline"
)

// Options say what is shown.
type Options struct {
	// Metrics is served under /metrics; nil for none.
	Metrics http.Handler
	// StaleAfter is the age of the view of the pods from which on the page warns; 0 for never.
	StaleAfter time.Duration
	// Build is shown at the foot of the page.
	Build string
}

// Page is an observer of one component and the http.Handler that shows it. Its methods are safe for
// concurrent use; the timeline's tell it where the component's inputs come from.
type Page struct {
	*timeline.Timeline
	options   Options
	component atomic.Pointer[shell.Component]
	handler   http.Handler
	streams   streams
}

// New makes a page that serves what the package's documentation lists.
func New(options Options) *Page {
	p := &Page{Timeline: timeline.New(), options: options}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", p.healthz)
	mux.HandleFunc("GET /readyz", p.readyz)
	mux.HandleFunc("GET /debug/fleet", p.debugFleet)
	mux.HandleFunc("GET /events", p.events)
	if options.Metrics != nil {
		mux.Handle("GET /metrics", options.Metrics)
	}
	addPage(mux)
	p.handler = withHeaders(mux)
	return p
}

// Observes implements shell.ComponentObserver.
func (p *Page) Observes(component *shell.Component) { p.component.Store(component) }

// ServeHTTP implements http.Handler.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.handler.ServeHTTP(w, r) }

// contentPolicy lets the page load its own files and follow its own server, and nothing else.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; " +
	"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

func withHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", contentPolicy)
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("X-Frame-Options", "DENY")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}
