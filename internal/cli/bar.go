package cli

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// Bars reports whether progress bars are drawn on w: it is a terminal, and nobody asked for quiet.
func Bars(w io.Writer, quiet bool) bool {
	f, ok := w.(*os.File)
	return !quiet && ok && term.IsTerminal(int(f.Fd()))
}

// Bar returns what draws a progress bar on w, and a function that removes it. A bar that cannot be drawn stops no work.
func Bar(w io.Writer, what string) (report func(done, total int), remove func()) {
	bar := progressbar.NewOptions(1, progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(what),
		progressbar.OptionSetWidth(30), progressbar.OptionThrottle(50*time.Millisecond), progressbar.OptionSetPredictTime(true),
		progressbar.OptionClearOnFinish())
	return func(done, total int) {
		// The last step is left to the function below: a full bar would count as finished and start anew.
		bar.ChangeMax(total + 1)
		_ = bar.Set(done)
	}, func() { _ = bar.Clear() }
}

// StepBar is Bar for a known number of steps, each with a text of its own.
func StepBar(w io.Writer, steps int) (report func(step int, text string), remove func()) {
	bar := progressbar.NewOptions(steps+1, // a full bar would count as finished
		progressbar.OptionSetWriter(w), progressbar.OptionSetWidth(20), progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(true), progressbar.OptionClearOnFinish())
	return func(step int, text string) {
		bar.Describe(text)
		_ = bar.Set(step)
	}, func() { _ = bar.Clear() }
}
