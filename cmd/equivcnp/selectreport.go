package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/cnp/selection"
	"github.com/equivcnp/equivcnp/internal/picture"
)

// standing says what became of a candidate of a round: kept is the word for those that are neither behind nor ruled out.
func standing(c *selection.Candidate, kept string) string {
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

// selectionLines print the report.
func selectionLines(rep *selection.Report, r *result) {
	r.line("tasks", "%s", rep.Source)
	if rep.ScoredOn != "" {
		r.line("scored on", "%s", rep.ScoredOn)
	}
	for k, round := range rep.Rounds {
		name := fmt.Sprintf("round %d", k+1)
		for _, c := range round.Candidates {
			words := standing(&c, "")
			if words != "" {
				words = ", " + words
			}
			r.line(name, "%-8s %8.4f ± %.4f per value, %+.4f ± %.4f to the best%s, %s", c.Name, c.LogLikelihood.Mean, c.LogLikelihood.Error,
				c.Behind.Mean, c.Behind.Error, words, plural(round.Steps, "step"))
			name = ""
		}
	}
	name := "moved tasks"
	for _, c := range rep.Last().Candidates {
		for _, s := range c.Symmetries {
			r.line(name, "%s (%s): %+.4f ± %.4f under %s: %s", s.Move, s.By, s.LogLikelihood.Mean, s.LogLikelihood.Error, c.Name,
				rep.Verdict(s))
			name = ""
		}
	}
	if c := rep.AboveConstant; c != nil {
		r.line("best", "%s: %+.4f ± %.4f per value to a constant prediction", rep.Best, c.Mean, c.Error)
	}
	r.line("chosen", "%s: %s", rep.Chosen, rep.Rule)
	r.line("written", "%s", rep.OutDir)
}

// selectionPage is the report as a page that shows its picture.
func selectionPage(rep *selection.Report) string {
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
	if len(rep.Symmetries) > 0 {
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
	if len(rep.Notes) > 0 {
		p("\n## Notes\n")
		for _, n := range rep.Notes {
			p("- %s", n)
		}
	}
	return b.String()
}

// selectionCharts are the picture of the report.
func selectionCharts(rep *selection.Report) []*picture.Chart {
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
