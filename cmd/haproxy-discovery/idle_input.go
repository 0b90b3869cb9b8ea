package main

import (
	"context"
	"io"
)

// idleInput is an input that may come in pieces, with long times between them: before each piece,
// what was made of the ones before is written out, and the end of the context ends the waiting.
type idleInput struct {
	ctx    context.Context
	source io.Reader
	// idle is called before waiting for a piece.
	idle func()
	// buffer belongs to the reading goroutine between a request and its answer.
	buffer  []byte
	answers chan readAnswer
}

type readAnswer struct {
	n   int
	err error
}

func newIdleInput(ctx context.Context, source io.Reader, idle func()) *idleInput {
	return &idleInput{
		ctx: ctx, source: source, idle: idle,
		buffer: make([]byte, 64<<10), answers: make(chan readAnswer, 1),
	}
}

// Read implements io.Reader. After the end of the context, a goroutine that cannot be interrupted is
// left with the source, until the program ends.
func (i *idleInput) Read(p []byte) (int, error) {
	if err := i.ctx.Err(); err != nil {
		return 0, err
	}
	i.idle()
	piece := i.buffer[:min(len(p), len(i.buffer))]
	go func() {
		n, err := i.source.Read(piece)
		i.answers <- readAnswer{n, err}
	}()
	select {
	case answer := <-i.answers:
		return copy(p, piece[:answer.n]), answer.err
	case <-i.ctx.Done():
		return 0, i.ctx.Err()
	}
}
