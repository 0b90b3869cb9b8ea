package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/samber/lo"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell"
)

// script performs one scene after the other. Everything is drawn from the fleet's seed and goes by
// the script's own time, so that a slow machine may perform it late, but never differently.
type script struct {
	fleet     *Fleet
	component *shell.Component
	narrate   func(string)
	began     time.Time
	offset    time.Duration // the script's own time, since it began
	last      *pod          // what the last scene happened to
}

// scene is something that happens to the fleet.
type scene struct {
	ticks int // its length
	// play performs it. The error is that of ctx, or an agent could not be started.
	play func(s *script, ctx context.Context) error
	// needsPod is set for scenes that need a pod whose agent is not hung for good.
	needsPod bool
}

var scenes = []scene{
	{ticks: 1, play: (*script).replacePod, needsPod: true},
	{ticks: 1, play: (*script).rollOver, needsPod: true},
	{ticks: 1, play: (*script).crash, needsPod: true},
	{ticks: 3, play: (*script).hang, needsPod: true},
	{ticks: 1, play: (*script).rotateCredentials},
	{ticks: 1, play: (*script).changeLeader},
	{ticks: 1, play: (*script).heartbeat},
}

func (s *script) run(ctx context.Context) error {
	s.coldStart()
	if err := s.wait(ctx, 1); err != nil {
		return err
	}
	for played := true; played; {
		var err error
		if played, err = s.playRound(ctx); err != nil {
			return err
		}
	}
	return s.waitUntil(ctx, s.fleet.options.Duration)
}

// playRound plays every scene once, in an order drawn anew, as far as there is time for it. It
// tells whether there was time for any.
func (s *script) playRound(ctx context.Context) (played bool, err error) {
	for _, i := range s.fleet.random.Perm(len(scenes)) {
		scene := scenes[i]
		end := s.offset + time.Duration(scene.ticks)*s.fleet.tick
		if end > s.fleet.options.Duration || scene.needsPod && len(s.fleet.healthy()) == 0 {
			continue
		}
		played = true
		if err := scene.play(s, ctx); err != nil {
			return played, err
		}
		if err := s.waitUntil(ctx, end); err != nil {
			return played, err
		}
	}
	return played, nil
}

// wait lets that many ticks pass.
func (s *script) wait(ctx context.Context, ticks float64) error {
	return s.waitUntil(ctx, s.offset+time.Duration(ticks*float64(s.fleet.tick)))
}

func (s *script) waitUntil(ctx context.Context, offset time.Duration) error {
	s.offset = offset
	timer := time.NewTimer(time.Until(s.began.Add(offset)))
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
	return ctx.Err()
}

func (s *script) say(format string, args ...any) { s.narrate(fmt.Sprintf(format, args...)) }

// pickPod draws a healthy pod; not the same twice running, if there is a choice.
func (s *script) pickPod() *pod {
	healthy := s.fleet.healthy()
	if len(healthy) > 1 {
		healthy = lo.Without(healthy, s.last)
	}
	s.last = healthy[s.fleet.random.IntN(len(healthy))]
	return s.last
}

// update puts pods, as they are now, into the store and tells the component.
func (s *script) update(pods ...*pod) {
	for _, p := range pods {
		s.fleet.store.put(p)
	}
	s.tell(pods...)
}

func (s *script) tell(pods ...*pod) {
	s.component.HandleEvent(shell.ResourceIndexUpdated{
		Resource: core.HAProxyPods,
		Keys:     lo.Map(pods, func(p *pod, _ int) core.PodKey { return p.key() }),
	})
}
