package cnp

import "context"

type progressKey struct{}

// WithProgress returns a context under which long predictions report how much of the work is done.
func WithProgress(ctx context.Context, f func(done, total int)) context.Context {
	return context.WithValue(ctx, progressKey{}, f)
}

// progress returns the reporter of ctx, never nil.
func progress(ctx context.Context) func(done, total int) {
	if f, ok := ctx.Value(progressKey{}).(func(done, total int)); ok {
		return f
	}
	return func(int, int) {}
}
