package world

import (
	"slices"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// consumer acts on events as a deployer does: it may talk to the endpoints that it holds, and to
// nobody else.
type consumer struct {
	held []core.Endpoint
	// dead are the authorities that were terminated and not probed since.
	dead []core.Identity
	// told tells that it has learned of the fleet at all.
	told bool
}

func (c *consumer) restart() { *c = consumer{held: c.held[:0], dead: c.dead[:0]} }

// consume passes a step's events on, and complains about what a deployer could not live with.
func (w *World) consume(effects []core.Effect) {
	for _, effect := range effects {
		switch e := effect.(type) {
		case core.StartProbe:
			w.consumer.dead = slices.DeleteFunc(w.consumer.dead, func(i core.Identity) bool {
				return i == e.Identity
			})
		case core.Publish:
			switch event := e.Event.(type) {
			case core.HAProxyPodTerminated:
				w.drop(event.Identity)
			case core.HAProxyPodsDiscovered:
				w.replaceFleet(event)
			}
		}
	}
	w.checkHeld()
}

// drop ends all talk with an authority.
func (w *World) drop(identity core.Identity) {
	c := &w.consumer
	at := slices.IndexFunc(c.held, func(e core.Endpoint) bool { return e.Identity == identity })
	if at < 0 {
		if c.told {
			w.fail("consumer: %+v is terminated, but not held", identity)
		}
		return
	}
	c.held = slices.Delete(c.held, at, at+1)
	c.dead = append(c.dead, identity)
}

// replaceFleet holds what the event holds: nobody may be missing who was not terminated, nobody be
// back who was.
func (w *World) replaceFleet(event core.HAProxyPodsDiscovered) {
	c := &w.consumer
	missing := len(c.held)
	fresh := w.fresh[:0]
	for endpoint := range event.Fleet.All() {
		if slices.ContainsFunc(c.held, func(e core.Endpoint) bool {
			return e.Identity == endpoint.Identity
		}) {
			missing--
		}
		if slices.Contains(c.dead, endpoint.Identity) {
			w.fail("consumer: %+v is back without a probe", endpoint.Identity)
		}
		fresh = append(fresh, endpoint)
	}
	if missing != 0 {
		w.fail("consumer: %d endpoints are missing without Terminated", missing)
	}
	c.held, w.fresh, c.told = fresh, c.held, true
}

// checkHeld: nobody talks to a pod whose replacement, or end, core knows already.
func (w *World) checkHeld() {
	for i := range w.consumer.held {
		endpoint := &w.consumer.held[i]
		standing, found := w.state.Standing(endpoint.Key())
		if !found || standing.Identity != endpoint.Identity {
			w.fail("consumer: holds %+v, which is gone or replaced", endpoint.Identity)
		}
		if endpoint.Credentials != w.state.Credentials() {
			w.fail("consumer: has old credentials for %+v", endpoint.Identity)
		}
	}
}
