package interpolate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/cnp/krige"
	"github.com/equivcnp/equivcnp/internal/words"
)

// Reports are those of the outputs' models, by name. Their rows are those of the table.
func (in *Interpolation) Reports() map[string]krige.Report {
	out := map[string]krige.Report{}
	for c, name := range in.Names() {
		report := in.Models[c].Report()
		for _, rows := range [][]int{report.Far, report.Outliers} {
			for k, i := range rows {
				rows[k] = in.Rows[c][i]
			}
		}
		out[name] = report
	}
	return out
}

// Said is what there is to say of the task, of the fits, and of a cross-validation that is not nil: lines under their names, notes, and
// cautions, which are notes that nobody should miss.
func (in *Interpolation) Said(v *Validation) (lines [][2]string, notes, cautions []string) {
	cautions = in.followed(in.Task.Doubts()) // with what the check says they explain, which comes next
	if note := in.pooled(); note != "" {
		cautions = append(cautions, note)
	}
	extra := slices.DeleteFunc(in.followed(in.Extra()), func(note string) bool { return slices.Contains(cautions, note) })
	for c, name := range in.Names() {
		if in.Missing[c] > 0 {
			notes = append(notes, fmt.Sprintf("%s of %s without %s: no part of its context", words.Plural(in.Missing[c], "row"),
				in.Points.Name, name))
		}
		if in.Lacking > 0 && c == 0 {
			notes = append(notes, fmt.Sprintf("%s of %s without an auxiliary input: no part of the context",
				words.Plural(in.Lacking, "row"), in.Points.Name))
		}
		lines = append(lines, [2]string{"context", fmt.Sprintf("%s: %s", name, words.Plural(len(in.Y[c]), "value"))})
		report := in.Models[c].Report()
		if report.Values == 0 {
			notes = append(notes, name+": one value, or equal ones: their spread is not known")
			continue
		}
		if in.Models[c].Options().Robust {
			notes = append(notes, in.sifted(c, report.Outliers))
		} else if len(report.Far) > 0 {
			notes = append(notes, fmt.Sprintf("%s: %s farther than six standard deviations from what the others say%s; if that is wrong, "+
				"--robust leaves it out", name, words.Plural(len(report.Far), "value"), in.named(c, report.Far)))
		}
		cautions = append(cautions, fmt.Sprintf("check of %s: %v", name, report))
	}
	for _, line := range in.Drift() {
		lines = append(lines, [2]string{"drift", line})
	}
	for _, far := range []string{in.Beyond(), in.BeyondDrift()} {
		if far != "" {
			cautions = append(cautions, far)
		}
	}
	if v != nil {
		lines = append(lines, [2]string{"left out", v.What()})
		for _, line := range v.Lines() {
			lines = append(lines, [2]string{"", line})
		}
	}
	return lines, append(notes, extra...), cautions
}

// followed returns notes of the task without advice that is followed already.
func (in *Interpolation) followed(notes []string) []string {
	return withoutAdvice(notes, len(in.Models) > 0 && in.Models[0].Options().Robust)
}

// withoutAdvice returns notes, without the advice to leave outliers out where robust says that they are.
func withoutAdvice(notes []string, robust bool) []string {
	out := slices.Clone(notes)
	if !robust {
		return out
	}
	for i, note := range out {
		out[i] = strings.Replace(note, ", or --robust without a model", "", 1)
	}
	return out
}

// Kept returns the context of output c [n, Dx] and [n] without the values that were left out as outliers, after Fit.
func (in *Interpolation) Kept(c int) (x, y []float64) {
	outliers := in.Models[c].Report().Outliers
	if len(outliers) == 0 {
		return in.X[c], in.Y[c]
	}
	for i, v := range in.Y[c] {
		if _, out := slices.BinarySearch(outliers, i); !out {
			x, y = append(x, in.X[c][i*in.Dx:(i+1)*in.Dx]...), append(y, v)
		}
	}
	return x, y
}

// mostNamed is how many values are named.
const mostNamed = 5

// sifted says which values of output c, by their index, are outliers.
func (in *Interpolation) sifted(c int, outliers []int) string {
	name := in.Names()[c]
	if len(outliers) == 0 {
		return fmt.Sprintf("no value of %s is an outlier", name)
	}
	return fmt.Sprintf("%s of %s left out, as the others make them all but impossible%s", words.Plural(len(outliers), "outlier"), name,
		in.named(c, outliers))
}

// named lists values of output c, by their index, with their places in the table, a few of them.
func (in *Interpolation) named(c int, rows []int) (text string) {
	for k, i := range rows[:min(len(rows), mostNamed)] {
		text += fmt.Sprintf("%s %.6g in %s", [...]string{":", ","}[min(k, 1)], in.Y[c][i],
			in.Points.Place(in.Rows[c][i], in.Observed.Columns.Y[c]))
	}
	if len(rows) > mostNamed {
		text += fmt.Sprintf(" and %d more", len(rows)-mostNamed)
	}
	return text
}
