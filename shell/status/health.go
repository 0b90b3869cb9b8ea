package status

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// healthTimeout is how long the loop may take to answer; it is busy for milliseconds at most.
const healthTimeout = time.Second

func (h *handler) healthz(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), healthTimeout)
	defer cancel()
	if err := h.Component.Healthy(ctx); err != nil {
		unavailable(w, "not healthy: "+err.Error())
		return
	}
	_, _ = io.WriteString(w, "ok\n")
}

func (h *handler) readyz(w http.ResponseWriter, _ *http.Request) {
	state := h.Component.State()
	if !state.GateOpen() {
		unavailable(w, "not ready: waiting for "+strings.Join(missing(state), ", "))
		return
	}
	_, _ = io.WriteString(w, "ok\n")
}

// missing names what the gate waits for (R6); empty once it is open.
func missing(state core.State) []string {
	names := []string{}
	if state.GateOpen() {
		return names
	}
	if _, known := state.Settings(); !known {
		names = append(names, "config")
	}
	if state.Credentials().IsZero() {
		names = append(names, "credentials")
	}
	if !state.StoreSet() {
		names = append(names, "pod store")
	}
	if !state.StoreSynced() {
		names = append(names, "sync")
	}
	return names
}

func unavailable(w http.ResponseWriter, line string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = fmt.Fprintln(w, line)
}
