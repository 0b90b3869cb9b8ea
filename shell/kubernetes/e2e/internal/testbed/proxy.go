package testbed

import (
	"io"
	"net"
	"sync"
)

// Proxy passes TCP connections on to an API server until it is cut: then open connections are
// closed and new ones refused, as when a server or a route to it is gone.
type Proxy struct {
	address, target string

	mu          sync.Mutex
	listener    net.Listener
	connections map[net.Conn]bool
}

// NewProxy makes a proxy that is cut.
func NewProxy(target string) *Proxy {
	return &Proxy{
		address: net.JoinHostPort(NewAddress(), "6443"), target: target,
		connections: map[net.Conn]bool{},
	}
}

// Address is host and port of the proxy.
func (p *Proxy) Address() string { return p.address }

// Restore lets connections through.
func (p *Proxy) Restore() error {
	listener, err := net.Listen("tcp", p.address)
	if err != nil {
		return err
	}
	p.mu.Lock()
	p.listener = listener
	p.mu.Unlock()
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go p.serve(listener, client)
		}
	}()
	return nil
}

func (p *Proxy) serve(from net.Listener, client net.Conn) {
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		_ = client.Close()
		return
	}
	if !p.keep(from, client, server) {
		return
	}
	pass := func(to, from net.Conn) {
		_, _ = io.Copy(to, from)
		p.drop(client, server)
	}
	go pass(server, client)
	pass(client, server)
}

// keep closes the connections at once if the proxy has been cut since it accepted them.
func (p *Proxy) keep(from net.Listener, connections ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, connection := range connections {
		if p.listener != from {
			_ = connection.Close()
			continue
		}
		p.connections[connection] = true
	}
	return p.listener == from
}

func (p *Proxy) drop(connections ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, connection := range connections {
		_ = connection.Close()
		delete(p.connections, connection)
	}
}

// Cut closes all connections and refuses new ones, until Restore.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listener != nil {
		_ = p.listener.Close()
		p.listener = nil
	}
	for connection := range p.connections {
		_ = connection.Close()
	}
	clear(p.connections)
}
