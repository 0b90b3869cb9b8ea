package effects

import (
	"net/http"
	"net/url"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// newRequest is the probe's GET. The credentials go into the header, never into the URL (R25).
func newRequest(agentURL string, credentials core.Credentials) (*http.Request, error) {
	target, err := url.Parse(agentURL)
	if err != nil || !isAgentURL(target) {
		return nil, failed(core.CauseOther, "the agent's URL is not of the form scheme://ip:port")
	}
	target.Path = statePath
	request := &http.Request{
		Method: http.MethodGet,
		URL:    target,
		Host:   target.Host,
		Header: http.Header{
			"Accept":          {"application/json"},
			"Accept-Encoding": {"gzip"},
			"User-Agent":      {"haproxy-discovery"},
		},
		Close: true,
	}
	if !credentials.IsZero() {
		request.SetBasicAuth(credentials.Username(), credentials.Password().Reveal())
	}
	return request, nil
}

// isAgentURL holds the shape of core.Identity.URL. An empty host would reach this very machine.
func isAgentURL(u *url.URL) bool {
	return (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.Port() != "" &&
		u.User == nil && u.Path == "" && u.RawQuery == "" && u.Fragment == ""
}
