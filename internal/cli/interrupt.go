package cli

import (
	"context"
)

// Interruptible returns what read does, or ctx's error once ctx ends: a read from a pipe that nobody writes to would never
// end. read is then left behind, for as long as the program still runs.
func Interruptible[V any](ctx context.Context, read func() (V, error)) (V, error) {
	type result struct {
		v   V
		err error
	}
	done := make(chan result, 1)
	go func() {
		v, err := read()
		done <- result{v, err}
	}()
	select {
	case <-ctx.Done():
		var none V
		return none, ctx.Err()
	case r := <-done:
		return r.v, r.err
	}
}
