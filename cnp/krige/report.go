package krige

import (
	"fmt"
	"strings"
)

// Report holds what a fit found out about itself: what each value of the context, or a part of a large one, would have
// been predicted as from the others.
type Report struct {
	Values          int      `json:"values"`                // so many were predicted from the others
	LogDensity      float64  `json:"log_density"`           // mean, nats, of values over their standard deviation
	Constant        float64  `json:"log_density_constant"`  // that of mean and deviation of the others
	InverseDistance float64  `json:"log_density_distances"` // that of inverse squared distances
	Coverage50      float64  `json:"coverage_50"`
	Coverage95      float64  `json:"coverage_95"`
	Scale           float64  `json:"scale"`                 // what standard deviations were multiplied by
	Uncorrected     bool     `json:"uncorrected,omitempty"` // Options.NoCheck: predictions are as if nothing had been found out
	Members         []Member `json:"members"`               // the likeliest first
	Weights         Weights  `json:"weights"`
	Varies          []string `json:"varies,omitempty"` // with what standard deviations vary beside: place, level
	Exact           bool     `json:"exact"`
	// Drift are the coefficients of the columns of a drift, in the table's units; of bent values, where Bend names some.
	Drift []Coefficient `json:"drift,omitempty"`
	Bend  string        `json:"of,omitempty"` // what of the values is normal, where that is not themselves
}

// Coefficient is what a value grows by where a column of the drift grows by one. Of a column that is constant in the table both are 0.
type Coefficient struct {
	Mean float64 `json:"mean"`
	Std  float64 `json:"std"`
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

// String is the report in a few lines.
func (r Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "each of %d values predicted from the others: log density %s, a constant's %s, inverse distances' %s",
		r.Values, nats(r.LogDensity), nats(r.Constant), nats(r.InverseDistance))
	fmt.Fprintf(&b, "; %.0f %% lie in 50 %% intervals, %.0f %% in 95 %% ones; ", 100*r.Coverage50, 100*r.Coverage95)
	if r.Uncorrected {
		b.WriteString("deviations were not corrected by this")
	} else {
		fmt.Fprintf(&b, "deviations were multiplied by %.2f", r.Scale)
	}
	return b.String()
}

// leastNats is the log density from which on it says no more than that a value was all but impossible: a constant's, where the other
// values are equal.
const leastNats = -1000

// nats writes a log density.
func nats(v float64) string {
	if v < leastNats {
		return fmt.Sprintf("below %d", leastNats)
	}
	return fmt.Sprintf("%.3f", v)
}
