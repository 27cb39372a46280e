package main

import (
	"fmt"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/equivcnp/equivcnp/cnp/train"
)

// trainBar returns what shows a run's records on a progress bar, with loss, log-likelihood, speed and the time that is left,
// and what removes it; both do nothing unless standard error is a terminal and --quiet was not given.
func (a *app) trainBar(steps int) (show func(train.Record), done func()) {
	f, ok := a.stderr.(*os.File)
	if a.quiet || !ok || !term.IsTerminal(int(f.Fd())) {
		return func(train.Record) {}, func() {}
	}
	bar := progressbar.NewOptions(steps+1, // a full bar would count as finished
		progressbar.OptionSetWriter(f),
		progressbar.OptionSetWidth(20),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionShowCount(),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionClearOnFinish(),
	)
	score := ""
	return func(r train.Record) {
		if r.Score != nil {
			score = fmt.Sprintf("  test %.3f", r.Score.LogLikelihood)
		}
		bar.Describe(fmt.Sprintf("loss %.4g  LL %.3f%s  %.3g tasks/s", r.Loss, r.LogLikelihood, score, r.TasksPerSecond))
		_ = bar.Set(r.Step) // a bar that cannot be drawn must not stop the work
	}, func() { _ = bar.Clear() }
}
