package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/cnp/eval"
	"github.com/equivcnp/equivcnp/internal/picture"
	"github.com/equivcnp/equivcnp/internal/shards"
)

// verdict says what the change of likelihood of moved tasks means.
func verdict(s eval.Symmetry) string {
	switch {
	case s.BuiltIn:
		return "built into the model"
	case s.Broken:
		return "broken"
	}
	return "supported"
}

const withinLuck = "behind by no more than a training's luck, and the data bear it"

// starts says how far a candidate's other trainings were behind its best.
func (c *selectResult) starts() (text string) {
	for _, other := range c.OtherStarts {
		text += fmt.Sprintf(", another start %+.3f", other.Mean)
	}
	return text
}

// luckText says by how much trainings differ; nothing where each candidate has one start.
func (rep *selectReport) luckText() string {
	if rep.Luck == 0 {
		return ""
	}
	return fmt.Sprintf(" Two trainings of one candidate differ by %.3f (median).", rep.Luck)
}

// lines print the report.
func (rep *selectReport) lines(r *result) {
	r.line("tasks", "%s", rep.Source)
	if rep.ScoredOn != "" {
		r.line("scored on", "%s", rep.ScoredOn)
	}
	for k, round := range rep.Rounds {
		for i, c := range round.Candidates {
			name := ""
			if i == 0 {
				name = fmt.Sprintf("round %d", k+1)
			}
			out := ""
			switch {
			case c.RuledOut != "":
				out = ", ruled out: " + c.RuledOut
			case c.WithinLuck:
				out = ", " + withinLuck
			case !c.Kept:
				out = ", behind"
			}
			out += c.starts()
			r.line(name, "%-8s %8.4f ± %.4f per value, %+.4f ± %.4f to the best%s, %s", c.Name, c.LogLikelihood.Mean, c.LogLikelihood.Error,
				c.Behind.Mean, c.Behind.Error, out, plural(round.Steps, "step"))
		}
	}
	name := "moved tasks"
	for _, c := range rep.Rounds[len(rep.Rounds)-1].Candidates {
		for _, s := range c.Symmetries {
			r.line(name, "%s (%s): %+.4f ± %.4f under %s: %s", s.Move, s.By, s.LogLikelihood.Mean, s.LogLikelihood.Error, c.Name, verdict(s))
			name = ""
		}
	}
	r.line("chosen", "%s: %s", rep.Chosen, rep.Rule)
	r.line("written", "%s", rep.OutDir)
}

// markdown is the report as a page that shows its picture.
func (rep *selectReport) markdown() string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p("# Which symmetry the data support: %s\n", rep.Chosen)
	p("Tasks: %s.", rep.Source)
	if rep.ScoredOn != "" {
		p("Scored on: %s.", rep.ScoredOn)
	}
	p("\nChosen: **%s**, by the rule: %s. The best of these by likelihood: %s. The model: [%s](%s).\n", rep.Chosen, rep.Rule, rep.Best, rep.Model, rep.Model)
	p("![likelihoods of all rounds, and of moved tasks](report.png)\n")
	p("## Candidates\n")
	p("Log-likelihoods per value of held-out tasks, with standard errors; differences are of the same tasks.%s\n", rep.luckText())
	p("| round | steps | candidate | dimensions | log-likelihood | to the best | |")
	p("|---:|---:|---|---:|---:|---:|---|")
	for k, round := range rep.Rounds {
		for _, c := range round.Candidates {
			kept := ""
			switch {
			case c.RuledOut != "":
				kept = "ruled out: " + c.RuledOut
			case c.WithinLuck:
				kept = withinLuck
			case !c.Kept:
				kept = "behind"
			case k+1 == len(rep.Rounds):
				kept = "as good as the best"
			default:
				kept = "goes on"
			}
			kept += c.starts()
			p("| %d | %d | [%s](%s) | %d | %.4f ± %.4f | %+.4f ± %.4f | %s |", k+1, round.Steps, c.Name, c.Model, c.Dimensions,
				c.LogLikelihood.Mean, c.LogLikelihood.Error, c.Behind.Mean, c.Behind.Error, kept)
		}
	}
	if len(rep.Symmetries) > 0 {
		p("\n## What the data bear\n")
		p("The change of the log-likelihood per value of held-out tasks when they are moved, under the models of the last round.\n")
		p("| move | by | under | change | the data's symmetry |")
		p("|---|---|---|---:|---|")
		for _, c := range rep.Rounds[len(rep.Rounds)-1].Candidates {
			for _, s := range c.Symmetries {
				p("| %s | %s | %s | %+.4f ± %.4f | %s |", s.Move, s.By, c.Name, s.LogLikelihood.Mean, s.LogLikelihood.Error, verdict(s))
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

// charts are the picture of the report.
func (rep *selectReport) charts() []*picture.Chart {
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
		for _, under := range rep.Rounds[len(rep.Rounds)-1].Candidates {
			moved := picture.Series{Name: "under " + under.Name, Err: []float64{}}
			for _, s := range under.Symmetries {
				if i := slices.Index(c.Names, s.Move); i >= 0 {
					moved.X, moved.Y, moved.Err = append(moved.X, float64(i)), append(moved.Y, s.LogLikelihood.Mean), append(moved.Err, s.LogLikelihood.Error)
				}
			}
			c.Series = append(c.Series, moved)
		}
		out = append(out, c)
	}
	return out
}

// writeSelection writes the report, its picture and the chosen model.
func (a *app) writeSelection(f *selectFlags, rep *selectReport, chosen selectResult) error {
	create := func(name string, write func(w io.Writer) error) error {
		return shards.Create(filepath.Join(f.outDir, name), write)
	}
	if err := create(rep.Model, func(w io.Writer) error {
		file, err := os.Open(filepath.Join(f.outDir, filepath.FromSlash(chosen.Model)))
		if err != nil {
			return err
		}
		defer file.Close()
		_, err = io.Copy(w, file)
		return err
	}); err != nil {
		return err
	}
	if err := create("report.png", func(w io.Writer) error { return picture.WriteCharts(w, "png", rep.charts()...) }); err != nil {
		return err
	}
	if err := create("report.md", func(w io.Writer) error {
		_, err := io.WriteString(w, rep.markdown())
		return err
	}); err != nil {
		return err
	}
	return create("report.json", func(w io.Writer) error { return encodeIndented(w, rep) })
}
