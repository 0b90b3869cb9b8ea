// Package demo is an embedded fleet to watch discovery at work: real HTTP agents on loopback
// addresses, a pod store that speaks of them as the API server would, and a script of what happens
// to them.
package demo

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"net/netip"
	"slices"
	"syscall"
	"time"

	"github.com/samber/lo"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell"
)

// portAttempts bounds the search for a port that is free on all addresses.
const portAttempts = 20

// versions are those of the HAProxies; a rollout goes on to the next, a start begins with one of
// the first three.
var versions = []string{"3.3.5", "3.3.6", "3.4.1", "3.4.2", "3.4.3"}

// Fleet is a number of pods and their agents, all on one port. Run may be called once; not safe
// for concurrent use.
type Fleet struct {
	options  Options
	tick     time.Duration // the script's unit of time; a second, but for tests
	random   *mathrand.Rand
	accounts *accounts
	store    *podStore
	port     int

	pods        []*pod
	named       int // how many names were given out
	credentials core.Credentials
}

// NewFleet starts the agents. It fails on invalid options and when the loopback addresses
// 127.77.0.0/16 cannot be listened on. Close the fleet when done.
func NewFleet(options Options) (*Fleet, error) {
	if err := options.Validate(); err != nil {
		return nil, err
	}
	f := &Fleet{
		options:  options,
		tick:     time.Second,
		random:   mathrand.New(mathrand.NewPCG(options.Seed, 0)),
		accounts: &accounts{},
		store:    newPodStore(),
	}
	for range options.Pods {
		version := versions[f.random.IntN(3)]
		f.pods = append(f.pods, f.newPod(f.newName(), f.freeAddress(), version))
	}
	for _, i := range f.random.Perm(options.Pods)[:options.Hung] {
		f.pods[i].hung = true
	}
	credentials, err := f.newCredentials()
	if err != nil {
		return nil, err
	}
	f.credentials = credentials
	f.accounts.accept(credentials)
	if err := f.startAll(); err != nil {
		return nil, err
	}
	return f, nil
}

// startAll finds a port that is free on the address of every pod.
func (f *Fleet) startAll() error {
	var err error
	for range portAttempts {
		f.port = 0
		for _, p := range f.pods {
			if err = f.startAgent(p, agentState{hung: p.hung, version: p.version}); err != nil {
				break
			}
		}
		if err == nil {
			return nil
		}
		f.Close()
		if !errors.Is(err, syscall.EADDRINUSE) {
			break
		}
	}
	return err
}

// Close stops all agents; no goroutine and no listener is left.
func (f *Fleet) Close() {
	for _, p := range f.pods {
		if p.agent != nil {
			p.agent.stop()
		}
	}
}

// Run gives the component all that it needs to know and performs the script, until the duration
// is over or ctx ends; it returns nil then, and an error when an agent could not be started.
// narrate gets a short line right before each thing that happens. The agents run on until Close.
func (f *Fleet) Run(
	ctx context.Context, component *shell.Component, narrate func(string),
) error {
	s := &script{fleet: f, component: component, narrate: narrate, began: time.Now()}
	err := s.run(ctx)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// newPod draws a pod whose agent is not running yet. The caller adds it to the pods.
func (f *Fleet) newPod(name, ip, version string) *pod {
	return &pod{name: name, uid: f.newUID(), ip: ip, version: version}
}

func (f *Fleet) newName() string {
	f.named++
	return fmt.Sprintf("haproxy-%d", f.named-1)
}

func (f *Fleet) newUID() string {
	a, b := f.random.Uint64(), f.random.Uint64()
	return fmt.Sprintf("%08x-%04x-4%03x-%04x-%012x", a>>32, a>>16&0xffff, a&0xfff,
		b>>48&0x3fff|0x8000, b&0xffffffffffff)
}

// freeAddress is the lowest that no pod has, so that addresses are given out again, as in a
// cluster.
func (f *Fleet) freeAddress() string {
	taken := lo.Keyify(lo.Map(f.pods, func(p *pod, _ int) string { return p.ip }))
	ip := netip.MustParseAddr("127.77.0.1")
	for lo.HasKey(taken, ip.String()) {
		ip = ip.Next()
	}
	return ip.String()
}

// newCredentials makes a new password, which is no part of what the seed tells.
func (f *Fleet) newCredentials() (core.Credentials, error) {
	return core.NewCredentials("admin", rand.Text())
}

// startAgent starts the agent of a pod that has none, or whose last one was stopped.
func (f *Fleet) startAgent(p *pod, state agentState) error {
	agent, err := startAgent(p.ip, f.port, f.accounts, state)
	if err != nil {
		return err
	}
	f.port = agent.port
	p.agent = agent
	return nil
}

// healthy are the pods that things may happen to.
func (f *Fleet) healthy() []*pod {
	return lo.Reject(f.pods, func(p *pod, _ int) bool { return p.hung })
}

func upgraded(version string) string {
	return versions[min(slices.Index(versions, version)+1, len(versions)-1)]
}
