package embedding

import (
	"context"
	"log/slog"
	"sync"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// Configuration is an event: what all agents are to get from now on.
type Configuration string

// deployer writes to all endpoints of the fleet, and to nobody else, while this replica leads. All
// its methods are safe for concurrent use.
type deployer struct {
	identity string
	logger   *slog.Logger

	mu sync.Mutex
	// term lasts as long as this replica leads; ended if it does not.
	term          context.Context
	configuration Configuration
	connections   map[core.Identity]*connection
}

func newDeployer(identity string, logger *slog.Logger) *deployer {
	return &deployer{
		identity: identity, logger: logger,
		term: noTerm(), connections: map[core.Identity]*connection{},
	}
}

func noTerm() context.Context {
	ctx, end := context.WithCancel(context.Background())
	end()
	return ctx
}

// lead begins a term. Discovery tells the fleet again, as it does for each new leader; until then
// nobody is written to.
func (d *deployer) lead(term context.Context) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.term = term
}

// rest ends the term, if it has not ended yet, and returns once no request is under way any more.
func (d *deployer) rest() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.term = noTerm()
	for identity := range d.connections {
		d.close(identity)
	}
}

// handle takes in what comes over the bus.
func (d *deployer) handle(event any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch e := event.(type) {
	case core.HAProxyPodTerminated:
		d.close(e.Identity)
	case core.HAProxyPodsDiscovered:
		d.deploy(e.Fleet)
	case Configuration:
		d.configuration = e
		for _, connection := range d.connections {
			connection.write(order{connection.last.credentials, e})
		}
	}
}

// deploy gives the newest configuration to those who have not got it yet. A replay is nothing
// special: to a new leader, all are new.
func (d *deployer) deploy(fleet core.Fleet) {
	if d.term.Err() != nil {
		return
	}
	for endpoint := range fleet.All() {
		connection, found := d.connections[endpoint.Identity]
		if !found {
			connection = connect(d.term, endpoint.Identity, d.identity, d.logger)
			d.connections[endpoint.Identity] = connection
		}
		connection.write(order{endpoint.Credentials, d.configuration})
	}
}

// close returns once nothing is written to an endpoint any more.
func (d *deployer) close(identity core.Identity) {
	if connection, found := d.connections[identity]; found {
		connection.close()
		delete(d.connections, identity)
	}
}
