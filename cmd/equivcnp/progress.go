package main

import (
	"context"
	"fmt"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/train"
	"github.com/equivcnp/equivcnp/internal/cli"
)

// withProgress returns a context under which predictions draw a progress bar (see bar), and a function that removes it.
func (a *app) withProgress(ctx context.Context, what string) (context.Context, func()) {
	report, done := a.bar(what)
	if report == nil {
		return ctx, done
	}
	return cnp.WithProgress(ctx, report), done
}

// bar returns what draws a progress bar, nil where none is drawn, and a function that removes it.
func (a *app) bar(what string) (report func(done, total int), remove func()) {
	if !cli.Bars(a.stderr, a.quiet) {
		return nil, func() {}
	}
	return cli.Bar(a.stderr, what)
}

// trainBar returns what shows a run's records, on a progress bar or in lines, with loss, log-likelihood, speed and the time that is left,
// and what removes it. What is noted about the data is said as the first step is done: a training may take hours.
func (a *app) trainBar(steps int, notes []string) (show func(train.Record), done func()) {
	note, score := cli.NotesOnce(a.stderr, a.quiet, notes), ""
	report, done := cli.Steps(a.stderr, steps, a.quiet, !a.json)
	return func(r train.Record) {
		note()
		if r.Score != nil {
			score = fmt.Sprintf("  test %.3f", r.Score.LogLikelihood)
		}
		report(r.Step, fmt.Sprintf("loss %.4g  LL %.3f%s  %.3g tasks/s", r.Loss, r.LogLikelihood, score, r.TasksPerSecond), r.Score != nil)
	}, done
}
