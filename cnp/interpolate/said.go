package interpolate

import (
	"fmt"

	"github.com/equivcnp/equivcnp/cnp/krige"
	"github.com/equivcnp/equivcnp/internal/words"
)

// Reports are those of the outputs' models, by name.
func (in *Interpolation) Reports() map[string]krige.Report {
	out := map[string]krige.Report{}
	for c, name := range in.Names() {
		out[name] = in.Models[c].Report()
	}
	return out
}

// Said is what there is to say of the fits, and of a cross-validation that is not nil: lines under their names, notes, and cautions, which
// are notes that nobody should miss.
func (in *Interpolation) Said(v *Validation) (lines [][2]string, notes, cautions []string) {
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
	return lines, notes, cautions
}
