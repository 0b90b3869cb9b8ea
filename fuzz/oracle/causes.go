package oracle

import "github.com/haproxy-discovery/haproxy-discovery/core"

// causeOf says why an endpoint is retired: the first line that fits (R14).
func (o *Oracle) causeOf(was, is *place) core.Cause {
	switch {
	case is == nil:
		return "deleted"
	case is.pod.UID != was.pod.UID:
		return "replaced"
	case is.verdict.Kind == core.Ignored: // terminating, not_running, deselected or no_ip
		return is.verdict.Cause
	case is.verdict.Reason == "malformed_pod":
		return "malformed"
	case is.verdict.Kind == core.Rejected:
		return "agent_not_running"
	case o.urlOf(was.pod.IP) != was.candidacy.identity.URL:
		return "port_changed"
	case is.pod.IP != was.pod.IP:
		return "address_changed"
	default:
		return "container_restarted"
	}
}
