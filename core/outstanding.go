package core

import "slices"

// outstanding is a probe that was started and has not finished, cancelled or not. Immutable.
type outstanding struct {
	id          ProbeID
	identity    Identity
	credentials Credentials
	retry       bool
	cancelled   bool
}

// outstandingProbes are in the order of their numbers. They are few, so copying the list costs less
// than a tree would; the methods leave the receiver as it is.
type outstandingProbes []*outstanding

func (o outstandingProbes) find(id ProbeID) (*outstanding, bool) {
	for _, probe := range o {
		if probe.id == id {
			return probe, true
		}
	}
	return nil, false
}

func (o outstandingProbes) with(probe *outstanding) outstandingProbes {
	return append(slices.Clip(o), probe)
}

func (o outstandingProbes) without(id ProbeID) outstandingProbes {
	kept := make(outstandingProbes, 0, len(o))
	for _, probe := range o {
		if probe.id != id {
			kept = append(kept, probe)
		}
	}
	return kept
}

func (o outstandingProbes) cancel(id ProbeID) outstandingProbes {
	changed := slices.Clone(o)
	for i, probe := range changed {
		if probe.id == id {
			cancelled := *probe
			cancelled.cancelled = true
			changed[i] = &cancelled
		}
	}
	return changed
}

func (o outstandingProbes) retries() int {
	count := 0
	for _, probe := range o {
		if probe.retry {
			count++
		}
	}
	return count
}
