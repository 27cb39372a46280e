package main

import (
	"context"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/equivcnp/equivcnp/cnp"
)

// withProgress returns a context under which predictions draw a progress bar on standard error, if that is a terminal
// and --quiet was not given, and a function that removes the bar.
func (a *app) withProgress(ctx context.Context, what string) (context.Context, func()) {
	f, ok := a.stderr.(*os.File)
	if a.quiet || !ok || !term.IsTerminal(int(f.Fd())) {
		return ctx, func() {}
	}
	bar := progressbar.NewOptions(1,
		progressbar.OptionSetWriter(f),
		progressbar.OptionSetDescription(what),
		progressbar.OptionSetWidth(30),
		progressbar.OptionThrottle(50*time.Millisecond),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionClearOnFinish(),
	)
	report := func(done, total int) {
		// The last step is left to the function below: a full bar would count as finished and start anew.
		bar.ChangeMax(total + 1)
		_ = bar.Set(done) // a bar that cannot be drawn must not stop the work
	}
	return cnp.WithProgress(ctx, report), func() { _ = bar.Clear() }
}
