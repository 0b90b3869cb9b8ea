// Package replay runs a recorded input log through the reducer again.
package replay

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/haproxy-discovery/haproxy-discovery/cmd/haproxy-discovery/internal/output"
	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/core/invariant"
	"github.com/haproxy-discovery/haproxy-discovery/shell/inputlog"
)

// ErrUnreadable is wrapped where the log cannot be read.
var ErrUnreadable = errors.New("unreadable input log")

// Options say what to replay, and who wants to know.
type Options struct {
	// Check runs the invariants and compares the effects with the recorded digests.
	Check bool
	// Pod narrows the replay to what concerns it; nil for all.
	Pod *core.PodKey
	// Until is the number of the last step; 0 for all.
	Until uint64
	// Step is called for each selected step; its error ends the replay.
	Step func(output.Step) error
	// Warn is called for what the log tells beside its steps.
	Warn func(text string)
	// Failed is called for each broken invariant and each digest that differs.
	Failed func(text string)
}

// Result sums up a replay.
type Result struct {
	State   core.State
	Inputs  int
	LastSeq uint64
	// PodSeen tells that a step concerns Options.Pod.
	PodSeen bool
	// Digests counts those compared, Failures the steps that failed the check.
	Digests      int
	Failures     int
	FirstFailure uint64
}

// player replays one log.
type player struct {
	Options
	Result
	story    *story
	monitor  *invariant.Monitor
	digester *inputlog.Digester
}

// Run replays a log. The error wraps ErrUnreadable, or is that of Options.Step; it is that of the
// context where the replay ended with it, before the end of the log.
func Run(ctx context.Context, log *inputlog.Reader, options Options) (Result, error) {
	p := &player{Options: options, digester: inputlog.NewDigester()}
	p.fresh(core.Config{})
	for p.Until == 0 || p.LastSeq < p.Until {
		if err := ctx.Err(); err != nil {
			return p.Result, err
		}
		entry, err := log.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return p.Result, fmt.Errorf("%w: %w", ErrUnreadable, err)
		}
		if err := p.take(entry); err != nil {
			return p.Result, err
		}
	}
	return p.Result, nil
}

func (p *player) fresh(config core.Config) {
	p.State = core.New(config)
	p.monitor = invariant.NewMonitor(p.State)
	if p.Pod != nil {
		p.story = newStory(*p.Pod)
	}
}

func (p *player) take(entry inputlog.Entry) error {
	switch e := entry.(type) {
	case inputlog.Started:
		if err := e.Config.Validate(); err != nil {
			return fmt.Errorf("%w: line %d: config: %w", ErrUnreadable, e.Line, err)
		}
		p.fresh(e.Config)
		if e.Restart {
			p.Warn(fmt.Sprintf("line %d: restart by build %s: the state begins afresh", e.Line, e.Build))
		}
	case inputlog.Stopped:
		p.Warn(fmt.Sprintf("line %d: recording has stopped here: %s", e.Line, e.Reason))
	case inputlog.Warning:
		p.Warn(e.String())
	case inputlog.Step:
		return p.step(e)
	}
	return nil
}

func (p *player) step(recorded inputlog.Step) error {
	before := p.State
	after, effects := core.Reduce(before, recorded.Input)
	p.State = after
	p.Inputs++
	p.LastSeq = recorded.Seq
	if p.Check {
		p.check(recorded, effects)
	}
	step := output.Step{
		Seq: recorded.Seq, Time: recorded.At, Input: recorded.Input, Effects: effects,
	}
	if p.story != nil {
		var concerned bool
		if step, concerned = p.story.tell(step, before, after); !concerned {
			return nil
		}
		p.PodSeen = true
	}
	return p.Step(step)
}

func (p *player) check(recorded inputlog.Step, effects []core.Effect) {
	failed := false
	for _, violation := range p.monitor.Step(recorded.Input, p.State, effects) {
		failed = true
		p.Failed(fmt.Sprintf("seq %d: %v", recorded.Seq, violation))
	}
	if recorded.Digest != "" {
		p.Digests++
		if digest := p.digester.Sum(effects); digest != recorded.Digest {
			failed = true
			p.Failed(fmt.Sprintf("seq %d: the effects differ from the recorded ones", recorded.Seq))
		}
	}
	if failed {
		p.Failures++
		if p.FirstFailure == 0 {
			p.FirstFailure = recorded.Seq
		}
	}
}
