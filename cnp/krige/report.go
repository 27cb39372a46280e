package krige

import (
	"fmt"
	"math"
	"strings"
)

// Report is what a fit found out about itself: what each value of the context, or a part of a large one, would have
// been predicted as from the others.
type Report struct {
	Values          int      `json:"values"`                // so many were predicted from the others
	LogDensity      float64  `json:"log_density"`           // mean, nats, of values over their standard deviation
	Constant        float64  `json:"log_density_constant"`  // that of mean and deviation of the others
	InverseDistance float64  `json:"log_density_distances"` // that of inverse squared distances
	Coverage50      float64  `json:"coverage_50"`
	Coverage95      float64  `json:"coverage_95"`
	Scale           float64  `json:"scale"`   // what standard deviations were multiplied by
	Members         []Member `json:"members"` // the likeliest first
	Weights         Weights  `json:"weights"`
	Varies          []string `json:"varies,omitempty"` // with what standard deviations vary beside: place, level
	Exact           bool     `json:"exact"`
	Bend            string   `json:"of,omitempty"` // what of the values is normal, where that is not themselves
}

// Weights are those of the predictors that are mixed.
type Weights struct {
	Gaussian        float64 `json:"gaussian_processes"`
	InverseDistance float64 `json:"inverse_distances"`
	Constant        float64 `json:"constant"`
}

// Member is one Gaussian process, in the units of the table.
type Member struct {
	Weight   float64 `json:"weight"`
	Shape    string  `json:"shape"`
	Length   float64 `json:"length"` // in units of the coordinates
	Signal   float64 `json:"signal"` // standard deviation
	Noise    float64 `json:"noise"`  // standard deviation
	Period   float64 `json:"period,omitempty"`
	Stretch  float64 `json:"stretch,omitempty"` // of anisotropy: the longest length over the shortest
	Trend    float64 `json:"trend"`             // standard deviation of the slope, of values per length unit
	SecondAt float64 `json:"second_length,omitempty"`
}

func newReport(m *Model, y, mean, variance []float64, means, variances [experts][]float64) Report {
	r := Report{Values: len(y), Exact: m.exact, Scale: math.Sqrt(m.mix.scale)}
	n := float64(len(y))
	for i, v := range y {
		r.LogDensity += logNormal(v, mean[i], variance[i]) / n
		r.Constant += logNormal(v, means[constant][i], variances[constant][i]) / n
		r.InverseDistance += logNormal(v, means[inverseDistance][i], variances[inverseDistance][i]) / n
		z := math.Abs(v-mean[i]) / math.Sqrt(variance[i])
		if z <= 0.67448975 {
			r.Coverage50 += 1 / n
		}
		if z <= 1.95996398 {
			r.Coverage95 += 1 / n
		}
	}
	w := m.mix.weight
	r.Weights = Weights{w[gaussian], w[inverseDistance], w[constant]}
	for _, s := range m.mix.spread {
		if s.levels {
			r.Varies = append(r.Varies, "level")
		} else {
			r.Varies = append(r.Varies, "place")
		}
	}
	for _, b := range m.members {
		r.Members = append(r.Members, m.member(b))
	}
	return r
}

// member describes a member in the table's units.
func (m *Model) member(b *member) Member {
	unit := math.Abs(m.frame.unit[0])
	k := b.kernel
	out := Member{Weight: b.weight, Shape: b.spec.shape.String(), Length: unit / k.parts[0].inverse,
		Signal: m.frame.ys * math.Sqrt(b.variance),
		Noise:  m.frame.ys * math.Sqrt(b.variance*k.noise), Trend: m.frame.ys * math.Sqrt(b.variance*k.slope2) / unit}
	if b.spec.period > 0 {
		out.Period = unit * math.Pi / k.season.frequency
	}
	if len(k.parts) > 1 {
		out.Shape += " + " + k.parts[1].shape.String()
		out.SecondAt = unit / k.parts[1].inverse
	}
	if b.spec.aniso && b.spec.dim == 2 {
		out.Stretch = math.Exp(math.Hypot(b.theta[tFirst], b.theta[tFirst+1]))
	}
	return out
}

// String is the report in a few lines.
func (r Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "each of %d values predicted from the others: log density %.3f, a constant's %.3f, inverse distances' %.3f",
		r.Values, r.LogDensity,
		r.Constant, r.InverseDistance)
	fmt.Fprintf(&b, "; %.0f %% lie in 50 %% intervals, %.0f %% in 95 %% ones; deviations were multiplied by %.2f",
		100*r.Coverage50, 100*r.Coverage95, r.Scale)
	return b.String()
}
