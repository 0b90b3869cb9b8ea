package status

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core/projection"
)

// healthTimeout is how long the loop may take to answer; it is busy for milliseconds at most.
const healthTimeout = time.Second

func (p *Page) healthz(w http.ResponseWriter, r *http.Request) {
	component := p.component.Load()
	if component == nil {
		unavailable(w, "not healthy: this page observes no component: give it to shell.WithObserver")
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), healthTimeout)
	defer cancel()
	if err := component.Healthy(ctx); err != nil {
		unavailable(w, "not healthy: "+err.Error())
		return
	}
	_, _ = io.WriteString(w, "ok\n")
}

func (p *Page) readyz(w http.ResponseWriter, _ *http.Request) {
	if lacks := projection.GateLacks(p.Now().State); len(lacks) > 0 {
		unavailable(w, "not ready: waiting for "+strings.Join(lacks, ", "))
		return
	}
	_, _ = io.WriteString(w, "ok\n")
}

func unavailable(w http.ResponseWriter, line string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = fmt.Fprintln(w, line)
}
