// Package replay runs a recorded input log through the reducer again.
package replay

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/haproxy-discovery/haproxy-discovery/cmd/haproxy-discovery/internal/output"
	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell/inputlog"
)

// ErrUnreadable is wrapped where the log cannot be read.
var ErrUnreadable = errors.New("unreadable input log")

// ErrReducerPanicked is wrapped where an input of the log breaks the reducer.
var ErrReducerPanicked = errors.New("the reducer panicked")

// Options say what to replay, and who wants to know.
type Options struct {
	// Check runs the invariants and compares the effects with the recorded digests, from the
	// beginning of the log up to Until.
	Check bool
	// Pod narrows the replay to what concerns it; nil for all.
	Pod *core.PodKey
	// From and Until are the first and the last step to show, both included.
	From, Until Point
	// Step is called for each selected step, Turn where a run begins anew or ends; an error ends
	// the replay.
	Step func(output.Step) error
	Turn func(output.Turn) error
	// Warn is called for what the log tells beside its steps.
	Warn func(text string)
	// Failed is called for whatever fails the check.
	Failed func(text string)
	// Reduce is core.Reduce where it is nil, as it is but in tests of a reducer that panics.
	Reduce func(core.State, core.Input) (core.State, []core.Effect)
}

// Result sums up a replay.
type Result struct {
	State   core.State
	Inputs  int
	LastSeq uint64
	// Shown tells that a step was reached that Options.From includes.
	Shown bool
	// PodSeen tells that a step concerns Options.Pod.
	PodSeen bool
	// Digests counts those compared, Failures what failed the check: steps, and whole runs.
	Digests, Failures int
	// FirstFailure is the number of the step at which the first failure was found.
	FirstFailure uint64
}

// player replays one log.
type player struct {
	Options
	Result
	story *story
	check check
	// ended tells that Until is behind us.
	ended bool
	// failedAt is the last step that has failed.
	failedAt uint64
	// killed is the end of a run that no record tells of, until it is known what follows; warned
	// tells that the last entry was a warning, which says why.
	killed *inputlog.Ended
	warned bool
}

// Run replays a log. The error wraps ErrUnreadable or ErrReducerPanicked, or is that of Options.Step or
// Options.Turn; it is that of the context where the replay ended with it, before the end of the log.
func Run(ctx context.Context, log *inputlog.Reader, options Options) (Result, error) {
	if options.Reduce == nil {
		options.Reduce = core.Reduce
	}
	p := &player{Options: options}
	p.check = check{failed: options.Failed, digester: inputlog.NewDigester()}
	p.fresh(0, core.Config{})
	for !p.ended {
		if err := ctx.Err(); err != nil {
			return p.Result, err
		}
		entry, err := log.Next()
		if errors.Is(err, io.EOF) {
			p.tellKilled()
			break
		}
		if err != nil {
			if ctx.Err() != nil { // reading was given up
				return p.Result, ctx.Err()
			}
			return p.Result, fmt.Errorf("%w: %w", ErrUnreadable, err)
		}
		if err := p.take(entry); err != nil {
			return p.Result, err
		}
	}
	p.endRun()
	return p.Result, nil
}

func (p *player) fresh(line int, config core.Config) {
	p.State = core.New(config)
	p.check.begin(line, p.State)
	if p.Pod != nil {
		p.story = newStory(*p.Pod, p.State)
	}
}

// restored goes on from a snapshot.
func (p *player) restored(e inputlog.Snapshot) {
	p.State, p.LastSeq = e.State, e.Last
	p.check.begin(e.Line, p.State)
	text := fmt.Sprintf("line %d: starts from a snapshot of the state after seq %d; what was before is "+
		"not in this log", e.Line, e.Last)
	if p.Pod != nil {
		p.story = newStory(*p.Pod, p.State)
		_, known := p.State.Standing(*p.Pod)
		p.PodSeen = p.PodSeen || known
		text += fmt.Sprintf("; %s is %s there", p.Pod, output.VerdictText(p.story.verdict, "not known"))
	}
	p.Warn(text)
}

func (p *player) take(entry inputlog.Entry) error {
	if p.Until.Seq > 0 && p.LastSeq >= p.Until.Seq {
		// Only what was recorded of the last step is still of interest.
		if _, is := entry.(inputlog.Reduced); !is {
			p.ended = true
			return nil
		}
	}
	switch e := entry.(type) {
	case inputlog.Started:
		return p.start(e)
	case inputlog.Reduced:
		p.compare(e)
	case inputlog.Snapshot:
		p.restored(e)
	case inputlog.Stopped:
		text := fmt.Sprintf("line %d: recording has stopped here: %s", e.Line, e.Reason)
		if e.Lost > 0 {
			text += fmt.Sprintf("; %d inputs before it are lost", e.Lost)
		}
		p.Warn(text)
		return p.turn(output.Turn{Kind: "stopped", Time: e.At, Reason: e.Reason, Lost: e.Lost})
	case inputlog.Ended:
		if e.Killed {
			p.killed = &e
			return p.turn(output.Turn{Kind: "killed"})
		}
		return p.turn(output.Turn{Kind: "closing", Time: e.At})
	case inputlog.Warning:
		p.Warn(e.String())
		p.warned = true
		return nil
	case inputlog.Step:
		if p.Until.passed(e) {
			p.ended = true
			return nil
		}
		p.warned = false
		return p.step(e)
	}
	return nil
}

func (p *player) start(e inputlog.Started) error {
	if err := e.Config.Validate(); err != nil {
		return fmt.Errorf("%w: line %d: config: %w", ErrUnreadable, e.Line, err)
	}
	p.endRun()
	p.fresh(e.Line, e.Config)
	if !e.Restart {
		return nil
	}
	text := fmt.Sprintf("line %d: restart by build %s: the state begins afresh", e.Line, e.Build)
	if p.killed != nil {
		text += "; the run before has no record of its end"
		p.killed = nil
	}
	p.Warn(text)
	return p.turn(output.Turn{Kind: "restart", Time: e.Started, Build: e.Build})
}

// tellKilled warns of a log whose last run does not say how it ended, unless a warning has said so
// already: damage at the end of a log.
func (p *player) tellKilled() {
	if p.killed != nil && !p.warned {
		p.Warn(fmt.Sprintf("line %d: the log ends without a record of the run's end: it was killed, "+
			"cut off, or is still at work", p.killed.Line))
	}
}

// turn shows where a run begins or ends.
func (p *player) turn(turn output.Turn) error {
	if !p.Shown && p.From != (Point{}) {
		return nil
	}
	turn.Last = p.LastSeq
	return p.Turn(turn)
}

func (p *player) step(recorded inputlog.Step) error {
	before := p.State
	after, effects, err := p.reduce(before, recorded)
	if err != nil {
		return err
	}
	p.State = after
	p.Inputs++
	p.LastSeq = recorded.Seq
	p.Shown = p.Shown || p.From.reached(recorded)
	if p.Check && !p.check.step(recorded, after, effects) {
		p.fail()
	}
	if !p.Check && p.LastSeq == p.Until.Seq {
		p.ended = true
	}
	step := output.Step{
		Seq: recorded.Seq, Time: recorded.At, Input: recorded.Input, Effects: effects,
		Before: before, After: after,
	}
	if p.story != nil {
		var concerned bool
		if step, concerned = p.story.tell(step, before, after); !concerned {
			return nil
		}
		p.PodSeen = true
	}
	if !p.Shown {
		return nil
	}
	return p.Step(step)
}

// reduce turns a panic into an error that names the input (R32).
func (p *player) reduce(before core.State, recorded inputlog.Step) (
	after core.State, effects []core.Effect, err error,
) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("%w at seq %d (%T): %v", ErrReducerPanicked, recorded.Seq, recorded.Input, reason)
		}
	}()
	after, effects = p.Reduce(before, recorded.Input)
	return after, effects, nil
}

func (p *player) compare(recorded inputlog.Reduced) {
	if !p.Check {
		return
	}
	p.Digests++
	if !p.check.compare(recorded) {
		p.fail()
	}
}

func (p *player) endRun() {
	if p.Check && !p.check.end() {
		p.failedAt = 0 // a failure of its own
		p.fail()
	}
}

// fail counts a step once.
func (p *player) fail() {
	if p.failedAt == p.LastSeq && p.Failures > 0 {
		return
	}
	p.failedAt = p.LastSeq
	p.Failures++
	if p.FirstFailure == 0 {
		p.FirstFailure = p.LastSeq
	}
}
