package interpolate

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/cnp/tabletask"
	"github.com/equivcnp/equivcnp/internal/words"
)

// Auxiliary returns the names of the auxiliary inputs.
func (in *Interpolation) Auxiliary() []string {
	return tabletask.Labels(in.Points, in.Observed.Columns.Aux, "aux", in.Da())
}

// Drift says for each output by how much it grows with the auxiliary inputs, after Fit. Of the indicators of a column of texts only
// differences are known, as one of them is always 1, and so they have no deviation of their own.
func (in *Interpolation) Drift() (lines []string) {
	outputs, inputs := in.Names(), in.Auxiliary()
	for c, m := range in.Models {
		r := m.Report()
		of := outputs[c]
		if r.Bend != "" {
			of = fmt.Sprintf("the %s of %s", r.Bend, of)
		}
		texts := map[string][]string{}
		for k, d := range r.Drift {
			if column, text, ok := strings.Cut(inputs[k], "="); ok {
				texts[column] = append(texts[column], fmt.Sprintf("%s %+.4g", text, d.Mean))
				continue
			}
			if d.Std == 0 {
				lines = append(lines, fmt.Sprintf("%s has one value where %s is known, and says nothing of it", inputs[k], outputs[c]))
				continue
			}
			lines = append(lines, fmt.Sprintf("%s grows by %.4g ± %.2g with each unit of %s", of, d.Mean, d.Std, inputs[k]))
		}
		for _, column := range slices.Sorted(maps.Keys(texts)) {
			lines = append(lines, fmt.Sprintf("%s differs by %s: %s", of, column, strings.Join(texts[column], ", ")))
		}
	}
	return lines
}

// BeyondDrift says of which auxiliary inputs targets lie outside the context's range, "" where none do: nothing tells whether what they
// say is linear there, too.
func (in *Interpolation) BeyondDrift() string {
	var beyond []string
	da := in.Da()
	for k, name := range in.Auxiliary() {
		lo, hi := extent(in.Aux[0], k, da)
		n := 0
		for i := k; i < len(in.Asked.Aux); i += da {
			if v := in.Asked.Aux[i]; v < lo || v > hi {
				n++
			}
		}
		if n > 0 && !math.IsInf(lo, 0) {
			beyond = append(beyond, fmt.Sprintf("%s, %s outside %.6g to %.6g", name, words.Plural(n, "target"), lo, hi))
		}
	}
	if beyond == nil {
		return ""
	}
	return "auxiliary inputs lie outside the context's range, where nothing tells whether their effect is linear: " +
		strings.Join(beyond, "; ")
}
