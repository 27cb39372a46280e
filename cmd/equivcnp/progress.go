package main

import (
	"context"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/equivcnp/equivcnp/cnp"
)

// withProgress returns a context under which predictions draw a progress bar (see bar), and a function that removes it.
func (a *app) withProgress(ctx context.Context, what string) (context.Context, func()) {
	report, done := a.bar(what)
	if report == nil {
		return ctx, done
	}
	return cnp.WithProgress(ctx, report), done
}

// progress reports whether progress bars are drawn: standard error is a terminal, and --quiet was not given.
func (a *app) progress() bool {
	f, ok := a.stderr.(*os.File)
	return !a.quiet && ok && term.IsTerminal(int(f.Fd()))
}

// bar returns what draws a progress bar on standard error, nil if that is no terminal or --quiet was given, and a function
// that removes the bar.
func (a *app) bar(what string) (report func(done, total int), remove func()) {
	if !a.progress() {
		return nil, func() {}
	}
	bar := progressbar.NewOptions(1,
		progressbar.OptionSetWriter(a.stderr),
		progressbar.OptionSetDescription(what),
		progressbar.OptionSetWidth(30),
		progressbar.OptionThrottle(50*time.Millisecond),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionClearOnFinish(),
	)
	return func(done, total int) {
		// The last step is left to the function below: a full bar would count as finished and start anew.
		bar.ChangeMax(total + 1)
		_ = bar.Set(done) // a bar that cannot be drawn must not stop the work
	}, func() { _ = bar.Clear() }
}
