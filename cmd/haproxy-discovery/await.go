package main

import (
	"context"
	"time"
)

// after gives a channel that is closed this long after the end of ctx.
func after(ctx context.Context, limit time.Duration) <-chan struct{} {
	late := make(chan struct{})
	context.AfterFunc(ctx, func() { time.AfterFunc(limit, func() { close(late) }) })
	return late
}

// await waits for a value until the limit; one that is there by then is not missed.
func await[T any](values <-chan T, limit <-chan struct{}) (value T, arrived bool) {
	select {
	case value = <-values:
		return value, true
	case <-limit:
	}
	select {
	case value = <-values:
		return value, true
	default:
		return value, false
	}
}
