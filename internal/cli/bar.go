package cli

import (
	"fmt"
	"io"
	"os"
	"sync"
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

// Steps returns what shows on w how far a known number of steps is, each with a text of its own, and what removes it: a bar
// on a terminal, elsewhere lines, some of them, unless lines is false. Steps that are news, such as a score, get one
// sooner.
func Steps(w io.Writer, steps int, quiet, lines bool) (report func(step int, text string, news bool), remove func()) {
	switch {
	case Bars(w, quiet):
		return stepBar(w, steps)
	case quiet || !lines:
		return func(int, string, bool) {}, func() {}
	}
	return stepLines(w, steps, time.Now), func() {}
}

// A line comes at most every firstLine, and after longLine even without news; in a long run a twentieth of it is between
// two lines.
const firstLine, longLine = 10 * time.Second, 5 * time.Minute

// stepLines returns what writes lines about steps to w, with the time that is left at the speed so far.
func stepLines(w io.Writer, steps int, now func() time.Time) func(step int, text string, news bool) {
	begun := now()
	last, before := begun, -1
	return func(step int, text string, news bool) {
		if before < 0 { // what an earlier run had done
			before = step - 1
		}
		at := now()
		gap := firstLine
		if !news {
			gap = usualGap(at.Sub(begun))
		}
		if at.Sub(last) < gap {
			return
		}
		last = at
		fmt.Fprintf(w, "step %d of %d%s: %s\n", step, steps, timeLeft(at.Sub(begun), step-before, steps-step), text)
	}
}

// usualGap is the time between two lines of a run that has taken so long.
func usualGap(run time.Duration) time.Duration { return min(max(firstLine, run/20), longLine) }

// timeLeft says how long the rest takes at the speed so far, nothing where that is not known.
func timeLeft(run time.Duration, done, rest int) string {
	if done <= 0 || rest <= 0 {
		return ""
	}
	return fmt.Sprintf(", %v left", roughly(time.Duration(float64(run)/float64(done)*float64(rest))))
}

// Tasks is Bar where bars are drawn. Elsewhere it writes lines, unless lines is false, as a batch system has them: after ten seconds, and
// every so often. What the first report says was done is what an earlier run did. report is nil where nothing is shown.
func Tasks(w io.Writer, what string, quiet, lines bool) (report func(done, total int), remove func()) {
	stage, remove := Stages(w, quiet, lines)
	if stage == nil {
		return nil, remove
	}
	return func(done, total int) { stage(what, done, total) }, remove
}

// Stages is Tasks for work whose stages have names and tasks of their own, one stage after another.
func Stages(w io.Writer, quiet, lines bool) (report func(what string, done, total int), remove func()) {
	switch {
	case Bars(w, quiet):
		stage, draw, clear := "", func(int, int) {}, func() {}
		return func(what string, done, total int) {
			if what != stage {
				clear()
				stage = what
				draw, clear = Bar(w, what)
			}
			draw(done, total)
		}, func() { clear() }
	case quiet || !lines:
		return nil, func() {}
	}
	return taskLines(w, time.Now), func() {}
}

// taskLines returns what writes lines about tasks to w, with the time that is left. A stage begins with another name or total, or when no
// more is done than at its beginning. Several goroutines may call it.
func taskLines(w io.Writer, now func() time.Time) func(what string, done, total int) {
	var mu sync.Mutex
	last, begun, before, stage, all := now(), time.Time{}, -1, "", 0
	return func(what string, done, total int) {
		mu.Lock()
		defer mu.Unlock()
		at := now()
		if done <= before || before < 0 || what != stage || total != all {
			begun, before, stage, all = at, done, what, total
		}
		if at.Sub(last) < usualGap(at.Sub(begun)) || done >= total {
			return
		}
		last = at
		fmt.Fprintf(w, "task %d of %d%s: %s\n", done, total, timeLeft(at.Sub(begun), done-before, total-done), what)
	}
}

// roughly is a time in words: to the second, from two minutes on to the minute, from two hours on in hours.
func roughly(d time.Duration) string {
	switch {
	case d >= 2*time.Hour:
		return fmt.Sprintf("%.1f h", d.Hours())
	case d >= 2*time.Minute:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.0f s", d.Seconds())
}

// stepBar is Bar for a known number of steps, each with a text of its own.
func stepBar(w io.Writer, steps int) (report func(step int, text string, news bool), remove func()) {
	bar := progressbar.NewOptions(steps+1, // a full bar would count as finished
		progressbar.OptionSetWriter(w), progressbar.OptionSetWidth(20), progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(true), progressbar.OptionClearOnFinish())
	return func(step int, text string, _ bool) {
		bar.Describe(text)
		_ = bar.Set(step)
	}, func() { _ = bar.Clear() }
}
