package main

import (
	"fmt"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/equivcnp/equivcnp/cnp/train"
)

// trainBar returns what shows a run's records on a progress bar, with loss, log-likelihood, speed and the time that is left,
// and what removes it; both do nothing unless standard error is a terminal and --quiet was not given.
func (a *app) trainBar(steps int) (show func(train.Record), done func()) {
	if !a.progress() {
		return func(train.Record) {}, func() {}
	}
	bar := progressbar.NewOptions(steps+1, // a full bar would count as finished
		progressbar.OptionSetWriter(a.stderr),
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
