package oracle

import (
	"slices"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// publication is what was told last. Generation 0 stands for none.
type publication struct {
	generation  uint64
	credentials core.Credentials
	fleet       []member
}

// member is one endpoint, without the credentials that it shares with all others.
type member struct {
	identity core.Identity
	version  core.Version
}

// discovery is the publication that a step owes.
type discovery struct {
	wanted                  bool
	trigger                 core.Trigger
	replay                  bool
	added, updated, removed []core.PodKey
	credentialsChanged      bool
}

func (p *publication) find(key core.PodKey) *member {
	for i := range p.fleet {
		if p.fleet[i].identity.Name == key.Name && p.fleet[i].identity.Namespace == key.Namespace {
			return &p.fleet[i]
		}
	}
	return nil
}

func (o *Oracle) isPublished(identity core.Identity) bool {
	told := o.published.find(identity.Key())
	return told != nil && told.identity == identity
}

// publish decides whether the fleet has to be told at the end of the step (R17), or told again
// (R19), and which timers stand by.
func (o *Oracle) publish(in meaning) {
	o.admitted = o.admitted[:0]
	for _, is := range o.now {
		if is.candidacy != nil && is.candidacy.admitted() {
			o.admitted = append(o.admitted, member{is.candidacy.identity, is.candidacy.version()})
		}
	}
	if !o.facts.gateOpen {
		return
	}
	d := &o.expected.discovery
	d.trigger = in.trigger
	first := o.published.generation == 0
	if in.trigger == core.TriggerBecameLeader && !first {
		d.wanted, d.replay = true, true
		return
	}
	o.compareFleets(d)
	d.credentialsChanged = !first && o.published.credentials != o.facts.credentials

	urgent := len(d.removed) > 0 || len(d.updated) > 0 || d.credentialsChanged
	levelTriggered := in.fullPass && !first
	news := first || len(d.added) > 0
	d.wanted = urgent || levelTriggered || o.expected.due || news && !o.firstAttemptPending()
	if d.wanted {
		o.published.generation++
		o.published.credentials = o.facts.credentials
		o.published.fleet = append(o.published.fleet[:0], o.admitted...)
	}
	o.wantTimer(&o.publishTimer, &o.expected.publishTimer, !d.wanted && len(d.added) > 0)
	o.wantTimer(&o.firstPublishTimer, &o.expected.firstPublishTimer, o.published.generation == 0)
}

// compareFleets works out in which endpoints the fleet differs from what was told last.
func (o *Oracle) compareFleets(d *discovery) {
	for _, told := range o.published.fleet {
		if !slices.ContainsFunc(o.admitted, func(m member) bool { return m.identity == told.identity }) {
			d.removed = append(d.removed, told.identity.Key())
		}
	}
	for _, m := range o.admitted {
		told := o.published.find(m.identity.Key())
		switch {
		case told == nil || told.identity != m.identity:
			d.added = append(d.added, m.identity.Key())
		case told.version != m.version:
			d.updated = append(d.updated, m.identity.Key())
		}
	}
}

// wantTimer has a timer running exactly while it is wanted.
func (o *Oracle) wantTimer(timer *core.TimerID, start *bool, wanted bool) {
	switch {
	case wanted && *timer == 0:
		*start = true
	case !wanted && *timer != 0:
		o.expected.stops = append(o.expected.stops, *timer)
		*timer = 0
	}
}
