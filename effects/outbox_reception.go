package effects

import (
	"slices"

	"github.com/samber/lo"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// reception is what one subscriber has received. It makes every Discovered tell what is new to this
// subscriber, not to one that has read everything (R30), and belongs to the goroutine that reads:
// comparing fleets takes time, which whoever publishes must not spend.
type reception struct {
	fleet core.Fleet
	// generation is 0 before the first Discovered.
	generation uint64
	// terminated are the pods whose endpoint in fleet was terminated since.
	terminated map[core.PodKey]struct{}
}

// receive gives the event as this subscriber has to see it.
func (r *reception) receive(next *parcel) Delivery {
	delivery := next.Delivery
	switch e := delivery.Event.(type) {
	case core.HAProxyPodTerminated:
		r.terminate(e.Identity)
	case core.HAProxyPodsDiscovered:
		if !r.isNext(e) {
			e = r.compare(e)
			// Every change of the credentials was told by some publication, so that none is missed.
			e.CredentialsChanged = next.credentialsChanged
			delivery.Event = e
		}
		*r = reception{fleet: e.Fleet, generation: e.Generation}
	}
	return delivery
}

func (r *reception) terminate(identity core.Identity) {
	held, found := r.fleet.Get(identity.Key())
	if !found || held.Identity != identity {
		return // of a publication that was skipped
	}
	if r.terminated == nil {
		r.terminated = map[core.PodKey]struct{}{}
	}
	r.terminated[identity.Key()] = struct{}{}
}

// isNext tells that this subscriber has received the publication that the event's lists and flags
// refer to: for a replay that is the one replayed, else the one before.
func (r *reception) isNext(e core.HAProxyPodsDiscovered) bool {
	if e.Replay {
		return e.Generation == r.generation
	}
	return e.Generation == r.generation+1
}

// compare renews the lists. A replay of what was skipped is no replay for this subscriber.
//
// An endpoint that was terminated and has come back under the same identity, all in publications
// that were skipped, is in both fleets. It counts as removed and added, like a replaced one:
// whoever goes by terminations and lists has dropped it and must learn that it is back.
func (r *reception) compare(e core.HAProxyPodsDiscovered) core.HAProxyPodsDiscovered {
	diff := e.Fleet.DiffFrom(r.fleet)
	back := lo.Filter(lo.Keys(r.terminated), func(key core.PodKey, _ int) bool {
		was, _ := r.fleet.Get(key)
		is, found := e.Fleet.Get(key)
		return found && is.Identity == was.Identity
	})
	if len(back) > 0 {
		diff.Added = inOrder(append(diff.Added, back...))
		diff.Removed = inOrder(append(diff.Removed, back...))
		diff.Updated = lo.Without(diff.Updated, back...)
	}
	e.Added, e.Updated, e.Removed = diff.Added, diff.Updated, diff.Removed
	e.Replay = false
	return e
}

func inOrder(keys []core.PodKey) []core.PodKey {
	slices.SortFunc(keys, core.PodKey.Compare)
	return keys
}
