package status

import (
	"net/http"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/shell"
	"github.com/haproxy-discovery/haproxy-discovery/shell/timeline"
)

// Options say what is shown.
type Options struct {
	Component *shell.Component
	// Timeline observes that component.
	Timeline *timeline.Timeline
	// Metrics is served under /metrics; nil for none.
	Metrics http.Handler
	// StaleAfter is the age of the view of the pods from which on the page warns; 0 for never.
	StaleAfter time.Duration
	// Build is shown at the foot of the page.
	Build string
}

type handler struct {
	Options
	streams chan struct{} // holds a token for each open stream
}

// NewHandler serves what the package's documentation lists. Safe for concurrent use.
func NewHandler(options Options) http.Handler {
	h := &handler{Options: options, streams: make(chan struct{}, maxStreams)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", h.healthz)
	mux.HandleFunc("GET /readyz", h.readyz)
	mux.HandleFunc("GET /debug/fleet", h.debugFleet)
	mux.HandleFunc("GET /events", h.events)
	if options.Metrics != nil {
		mux.Handle("GET /metrics", options.Metrics)
	}
	addPage(mux)
	return withHeaders(mux)
}

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
