package kubernetes

import (
	"cmp"

	"github.com/haproxy-discovery/haproxy-discovery/shell/timeline"
)

// Source is the pods' watch as the status page and the metrics show it. Safe at any time.
func (p *Pods) Source() timeline.Source {
	source := sourceOf(
		timeline.PodSource, p.listWatch.asked+" at "+p.listWatch.server, p.View(), "")
	source.Audit = p.auditor.view()
	return source
}

// Source is the Secret as the status page and the metrics show it. What is wrong with it comes before
// what is wrong with the contact. Safe at any time.
func (s *CredentialsSecret) Source() timeline.Source {
	return sourceOf(timeline.CredentialSource, s.listWatch.asked, s.View(), s.Problem())
}

func sourceOf(
	kind timeline.SourceKind, name string, view View, problem string,
) timeline.Source {
	state := "connecting"
	switch {
	case view.Connected:
		state = "connected"
	case view.LastError != "":
		state = "out of contact"
	}
	return timeline.Source{
		Kind: kind, Name: name, State: state, Error: cmp.Or(problem, view.LastError),
	}
}

// Source is the Lease as the status page and the metrics show it. Safe at any time.
func (l *Leadership) Source() timeline.Source {
	status := l.Status()
	state := "no leader known"
	switch {
	case status.Leading:
		state = "this replica leads"
	case status.Holder != "" && status.Holder != status.Identity:
		state = status.Holder + " leads"
	}
	return timeline.Source{
		Kind: timeline.LeadershipSource, Name: "Lease " + status.Lease, State: state,
		Error: status.LastError,
	}
}
