package selection

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/internal/picture"
)

// standing says what became of a candidate of a round: kept is the word for those that are neither behind nor ruled out.
func standing(c *Candidate, kept string) string {
	switch {
	case c.RuledOut != "":
		kept = "ruled out: " + c.RuledOut
	case c.WithinLuck:
		kept = "behind by no more than two seeds differ, and the data bear it"
	case !c.Kept:
		kept = "behind"
	}
	for _, other := range c.OtherStarts {
		kept += fmt.Sprintf(", another start %+.3f", other.Mean)
	}
	return strings.TrimPrefix(kept, ", ")
}

// Lines returns the report as lines, each with a name. A line without a name belongs to the one before it.
func (rep *Report) Lines() (out [][2]string) {
	add := func(name, format string, args ...any) {
		out = append(out, [2]string{name, fmt.Sprintf(format, args...)})
	}
	add("tasks", "%s", rep.Source)
	if rep.ScoredOn != "" {
		add("scored on", "%s", rep.ScoredOn)
	}
	for k, round := range rep.Rounds {
		name := fmt.Sprintf("round %d", k+1)
		for _, c := range round.Candidates {
			words := standing(&c, "")
			if words != "" {
				words = ", " + words
			}
			add(name, "%-8s %8.4f ± %.4f per value, %+.4f ± %.4f to the best%s, %s", c.Name, c.LogLikelihood.Mean, c.LogLikelihood.Error,
				c.Behind.Mean, c.Behind.Error, words, steps(round.Steps))
			name = ""
		}
	}
	name := "moved tasks"
	for _, c := range rep.Last().Candidates {
		for _, s := range c.Symmetries {
			add(name, "%s (%s): %+.4f ± %.4f under %s: %s", s.Move, s.By, s.LogLikelihood.Mean, s.LogLikelihood.Error, c.Name,
				rep.Verdict(s))
			name = ""
		}
	}
	if c := rep.AboveConstant; c != nil {
		add("best", "%s: %+.4f ± %.4f per value to a constant prediction", rep.Best, c.Mean, c.Error)
	}
	add("chosen", "%s: %s", rep.Chosen, rep.Rule)
	add("written", "%s", rep.OutDir)
	return out
}

// Page returns the report as a page of Markdown that shows the picture report.png, which [Report.Draw] writes.
func (rep *Report) Page() string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	title := "Which symmetry the data support: " + rep.Chosen
	if !rep.Supported {
		title += ", but no candidate predicts better than a constant"
	}
	p("# %s\n", title)
	p("Tasks: %s.", rep.Source)
	if rep.ScoredOn != "" {
		p("Scored on: %s.", rep.ScoredOn)
	}
	p("\nChosen: **%s**, by the rule: %s. The best of these by likelihood: %s. The model: [%s](%s).\n", rep.Chosen, rep.Rule,
		rep.Best, rep.Model, rep.Model)
	p("![likelihoods of all rounds, and of moved tasks](report.png)\n")
	p("## Candidates\n")
	luck := ""
	if rep.Luck != 0 {
		luck = fmt.Sprintf(" Two trainings of one candidate differ by %.3f (median).", rep.Luck)
	}
	p("Log-likelihoods per value of held-out tasks, with standard errors; differences are of the same tasks.%s\n", luck)
	rep.candidates(p)
	rep.moved(p)
	if len(rep.Notes) > 0 {
		p("\n## Notes\n")
		for _, n := range rep.Notes {
			p("- %s", n)
		}
	}
	return b.String()
}

// candidates writes the table of all rounds.
func (rep *Report) candidates(p func(format string, args ...any)) {
	p("| round | steps | candidate | dimensions | log-likelihood | to the best | |")
	p("|---:|---:|---|---:|---:|---:|---|")
	for k, round := range rep.Rounds {
		kept := "continues"
		if k+1 == len(rep.Rounds) {
			kept = "as good as the best"
		}
		for _, c := range round.Candidates {
			p("| %d | %d | [%s](%s) | %d | %.4f ± %.4f | %+.4f ± %.4f | %s |", k+1, round.Steps, c.Name, c.Model, c.Dimensions,
				c.LogLikelihood.Mean, c.LogLikelihood.Error, c.Behind.Mean, c.Behind.Error, standing(&c, kept))
		}
	}
}

// moved writes the table of moved tasks.
func (rep *Report) moved(p func(format string, args ...any)) {
	if len(rep.Symmetries) == 0 {
		return
	}
	p("\n## What the data bear\n")
	p("The change of the log-likelihood per value of held-out tasks when they are moved, under the models of the last round.\n")
	p("| move | by | under | change | the data's symmetry |")
	p("|---|---|---|---:|---|")
	for _, c := range rep.Last().Candidates {
		for _, s := range c.Symmetries {
			p("| %s | %s | %s | %+.4f ± %.4f | %s |", s.Move, s.By, c.Name, s.LogLikelihood.Mean, s.LogLikelihood.Error, rep.Verdict(s))
		}
	}
}

// Draw draws the likelihoods of all rounds and of moved tasks, as a PNG.
func (rep *Report) Draw(w io.Writer) error { return picture.WriteCharts(w, "png", rep.charts()...) }

// charts are the picture of the report.
func (rep *Report) charts() []*picture.Chart {
	var series []picture.Series
	at := map[string]int{}
	for _, round := range rep.Rounds {
		for _, c := range round.Candidates {
			i, ok := at[c.Name]
			if !ok {
				i = len(series)
				at[c.Name], series = i, append(series, picture.Series{Name: c.Name, Err: []float64{}})
			}
			s := &series[i]
			s.X, s.Y, s.Err = append(s.X, float64(round.Steps)), append(s.Y, c.LogLikelihood.Mean), append(s.Err, c.LogLikelihood.Error)
		}
	}
	out := []*picture.Chart{{Title: "Chosen: " + rep.Chosen, XLabel: "steps", YLabel: "log-likelihood per value", Series: series}}
	if len(rep.Symmetries) > 0 {
		c := &picture.Chart{Title: "Held-out tasks, moved", YLabel: "change of log-likelihood per value"}
		for _, s := range rep.Symmetries {
			c.Names = append(c.Names, s.Move)
		}
		for _, under := range rep.Last().Candidates {
			moved := picture.Series{Name: "under " + under.Name, Err: []float64{}}
			for _, s := range under.Symmetries {
				if i := slices.Index(c.Names, s.Move); i >= 0 {
					moved.X, moved.Y, moved.Err = append(moved.X, float64(i)), append(moved.Y, s.LogLikelihood.Mean),
						append(moved.Err, s.LogLikelihood.Error)
				}
			}
			c.Series = append(c.Series, moved)
		}
		out = append(out, c)
	}
	return out
}

// steps returns "1 step" or "2 steps".
func steps(n int) string {
	if n == 1 {
		return "1 step"
	}
	return fmt.Sprintf("%d steps", n)
}
